import { createHash } from "node:crypto";

/** RFC 6962 hashing and the verification algorithms of RFC 9162, section 2.1, on hex. */

export const sha256Hex = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");

export const leafHash = (leaf: Uint8Array | string): string =>
  createHash("sha256").update(Buffer.of(0)).update(leaf).digest("hex");

const node = (left: string, right: string): string =>
  createHash("sha256")
    .update(Buffer.of(1))
    .update(Buffer.from(left, "hex"))
    .update(Buffer.from(right, "hex"))
    .digest("hex");

/** The root of a tree from all of its leaf hashes. */
export function rootOf(leafHashes: readonly string[]): string {
  const [first] = leafHashes;
  if (first === undefined) return sha256Hex("");
  if (leafHashes.length === 1) return first;
  let split = 1;
  while (split * 2 < leafHashes.length) split *= 2;
  return node(rootOf(leafHashes.slice(0, split)), rootOf(leafHashes.slice(split)));
}

/** The root that an inclusion proof leads to (section 2.1.3.2); throws if its length is wrong. */
export function rootFromInclusion(
  leaf: string,
  index: number,
  size: number,
  hashes: readonly string[],
): string {
  if (index >= size) throw new Error(`leaf ${index} is not in a tree of ${size}`);
  let fn = index;
  let sn = size - 1;
  let root = leaf;
  for (const hash of hashes) {
    if (sn === 0) throw new Error("the inclusion proof is too long");
    if (fn % 2 === 1 || fn === sn) {
      root = node(hash, root);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else {
      root = node(root, hash);
    }
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  if (sn !== 0) throw new Error("the inclusion proof is too short");
  return root;
}

/** Whether the tree of `to` leaves extends the one of `from` (section 2.1.4.2). */
export function isConsistent(
  from: number,
  to: number,
  fromRoot: string,
  toRoot: string,
  hashes: readonly string[],
): boolean {
  if (from === to) return hashes.length === 0 && fromRoot === toRoot;
  const path = Number.isInteger(Math.log2(from)) ? [fromRoot, ...hashes] : [...hashes];
  let fn = from - 1;
  let sn = to - 1;
  while (fn % 2 === 1) {
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  const [start, ...rest] = path;
  if (start === undefined) return false;
  let fr = start;
  let sr = start;
  for (const hash of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      fr = node(hash, fr);
      sr = node(hash, sr);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else {
      sr = node(sr, hash);
    }
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 && fr === fromRoot && sr === toRoot;
}
