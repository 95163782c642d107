import type { Style } from "./terminal.ts";

export type DiffLine = { readonly sign: " " | "+" | "-"; readonly text: string };

/**
 * The lines of two texts side by side, from a longest common subsequence. Meant for files that
 * people write.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [splitLines(before), splitLines(after)];
  const lengths: Uint32Array[] = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row !== undefined)
        row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i] ?? "" });
      i++;
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push({ sign: "-", text: a[i++] ?? "" });
    else lines.push({ sign: "+", text: b[j++] ?? "" });
  }
  return lines;
}

const CONTEXT = 2;

/** The changes, with two lines around each. */
export function formatDiff(before: string, after: string, style: Style): string[] {
  const lines = diffLines(before, after);
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== " ");
  return lines.flatMap(({ sign, text }, index) => {
    if (!isNear(index)) return [];
    const line = `${sign} ${text}`;
    return [sign === "+" ? style.good(line) : sign === "-" ? style.bad(line) : style.faint(line)];
  });
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
