/** Code points, as ranges with both ends in them. */
export type CharSet = readonly (readonly [from: number, to: number])[];

const LAST = 0x10ffff;

export const DIGITS: CharSet = [[0x30, 0x39]];
/** ASCII letters, digits and `_`, as in RE2. */
export const WORD: CharSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
export const SPACE: CharSet = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];
/** `.`: anything but a line feed, as in RE2. */
export const ANY: CharSet = complement([[0x0a, 0x0a]]);

export function complement(set: CharSet): CharSet {
  const ranges: [number, number][] = [];
  let next = 0;
  for (const [from, to] of set.toSorted(([a], [b]) => a - b)) {
    if (from > next) ranges.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= LAST) ranges.push([next, LAST]);
  return ranges;
}

export function contains(set: CharSet, code: number): boolean {
  for (const [from, to] of set) if (code >= from && code <= to) return true;
  return false;
}
