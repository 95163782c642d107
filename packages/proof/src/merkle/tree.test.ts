import { describe, expect, it } from "vitest";
import { type Hash, utf8 } from "../bytes.ts";
import { toHex } from "../hex.ts";
import { ProofError } from "../proof-error.ts";
import { CompactRange } from "./compact-range.ts";
import {
  compactRangeCoordinates,
  consistencyCoordinates,
  inclusionCoordinates,
  type NodeCoordinate,
} from "./coordinates.ts";
import { EMPTY_ROOT, leafHash, nodeHash } from "./hashing.ts";
import { type NodeReader, proveConsistency, proveInclusion } from "./prove.ts";
import { verifyConsistency } from "./verify-consistency.ts";
import { verifyInclusion } from "./verify-inclusion.ts";

/** The sizes used in a browser, where the same code runs: enough for every shape of a path. */
const LARGEST = typeof window === "undefined" ? 70 : 40;
/**
 * Up to this size every bit of every proof is flipped; above it, one bit of every hash, a different
 * one each time. In a browser, up to where a proof has two hashes, on either side.
 */
const EVERY_BIT_UP_TO = typeof window === "undefined" ? 9 : 4;

/** Every bit that an index here can have, one more, and the far ones of 64. */
const INDEX_BITS = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 31n, 32n, 53n, 63n];

const leaves = Array.from({ length: LARGEST }, (_, i) => leafHash(utf8(`leaf ${i}`)));

/** RFC 6962 section 2.1, word for word. */
function mth(hashes: readonly Hash[]): Hash {
  const [only] = hashes;
  if (only === undefined) return EMPTY_ROOT;
  if (hashes.length === 1) return only;
  let k = 1;
  while (k * 2 < hashes.length) k *= 2;
  return nodeHash(mth(hashes.slice(0, k)), mth(hashes.slice(k)));
}

const key = ({ level, index }: NodeCoordinate): string => `${level}/${index}`;
const nodes = new Map<string, Hash>();
const roots: Hash[] = [EMPTY_ROOT];
const edges: CompactRange[] = [CompactRange.empty()];
const range = CompactRange.empty();
for (const leaf of leaves) {
  range.append(leaf, (level, index, hash) => nodes.set(key({ level, index }), hash));
  roots.push(range.root());
  edges.push(range.clone());
}

/** Fails if the code reads a coordinate that was not announced, or reads in another order. */
function announced(coordinates: NodeCoordinate[]): { read: NodeReader; unread: () => number } {
  const left = [...coordinates];
  return {
    read: (level, index) => {
      const next = left.shift();
      // Without `expect`, which takes longer than a proof: there are tens of thousands of them.
      if (next?.level !== level || next.index !== index)
        throw new Error(`read ${level}/${index} out of turn`);
      const hash = nodes.get(key({ level, index }));
      if (!hash) throw new Error(`no node ${level}/${index}`);
      return hash;
    },
    unread: () => left.length,
  };
}

const root = (size: number): Hash => roots[size] as Hash;
const leaf = (index: number): Hash => leaves[index] as Hash;

function flip(hash: Hash, bit: number): Hash {
  const copy = hash.slice();
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

let rotating = 0;
const bitsFor = (size: number): number[] =>
  size <= EVERY_BIT_UP_TO
    ? Array.from({ length: 256 }, (_, bit) => bit)
    : [(rotating = (rotating + 97) % 256)];

/** A quarter of the time would go into the stacks of some hundred thousand refusals. */
const { stackTraceLimit } = Error;
const refuses = (verify: () => void): boolean => {
  Error.stackTraceLimit = 0;
  try {
    verify();
    return false;
  } catch (error) {
    return error instanceof ProofError;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

describe("the tree", () => {
  it("has RFC 6962's root at every size, from its right edge and after a restart", () => {
    for (let size = 0; size <= LARGEST; size++) {
      const edge = edges[size] as CompactRange;
      expect(toHex(root(size))).toBe(toHex(mth(leaves.slice(0, size))));
      expect(edge.size).toBe(size);
      const stored = compactRangeCoordinates(size).map((at) => nodes.get(key(at)) as Hash);
      expect(edge.hashes).toEqual(stored);
      expect(CompactRange.from(size, stored).root()).toEqual(root(size));
    }
  });

  it("visits every perfect subtree once", () => {
    for (let level = 0; 2 ** level <= LARGEST; level++)
      for (let index = 0; (index + 1) * 2 ** level <= LARGEST; index++)
        expect(nodes.get(`${level}/${index}`)).toEqual(
          mth(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
        );
    const levels = Math.floor(Math.log2(LARGEST)) + 1;
    const perfect = Array.from({ length: levels }, (_, level) => Math.floor(LARGEST / 2 ** level));
    expect(nodes.size).toBe(perfect.reduce((sum, n) => sum + n));
  });

  it("appends to a clone without changing the original", () => {
    const original = edges[5] as CompactRange;
    const clone = original.clone();
    clone.append(leaf(5));
    expect(original.size).toBe(5);
    expect(original.root()).toEqual(root(5));
    expect(clone.root()).toEqual(root(6));
  });

  it("refuses a right edge with the wrong number of hashes", () => {
    expect(() => CompactRange.from(3, [leaf(0)])).toThrow(ProofError);
    expect(() => CompactRange.from(1, [leaf(0).subarray(1)])).toThrow(ProofError);
  });

  it("counts in sizes past 32 bits", () => {
    expect(compactRangeCoordinates(2 ** 52 + 1)).toEqual([
      { level: 52, index: 0 },
      { level: 0, index: 2 ** 52 },
    ]);
    expect(inclusionCoordinates(2 ** 52, 2 ** 52 + 1)).toEqual([{ level: 52, index: 0 }]);
    expect(consistencyCoordinates(2 ** 40, 2 ** 40 + 2 ** 33)).toEqual([{ level: 33, index: 128 }]);
    const edge = CompactRange.from(2 ** 40, [root(1)]);
    edge.append(leaf(1));
    expect(edge.root()).toEqual(nodeHash(root(1), leaf(1)));
  });

  it.each([
    () => inclusionCoordinates(5, 5),
    () => inclusionCoordinates(-1, 5),
    () => inclusionCoordinates(0.5, 5),
    () => inclusionCoordinates(0, 2 ** 53),
    () => consistencyCoordinates(0, 5),
    () => consistencyCoordinates(6, 5),
    () => compactRangeCoordinates(-1),
    () => compactRangeCoordinates(NaN),
  ])("refuses %s", (ask) => {
    expect(ask).toThrow(ProofError);
  });
});

describe(`every inclusion proof of every tree up to ${LARGEST} leaves`, () => {
  it("verifies, and fails with any one bit flipped and at any other index", () => {
    for (let size = 1; size <= LARGEST; size++) {
      for (let index = 0; index < size; index++) {
        const { read, unread } = announced(inclusionCoordinates(index, size));
        const good = {
          leafIndex: BigInt(index),
          treeSize: BigInt(size),
          leafHash: leaf(index),
          rootHash: root(size),
          hashes: proveInclusion(index, size, read),
        };
        expect(unread()).toBe(0);
        verifyInclusion(good);
        const bits = bitsFor(size);
        const bad = [
          ...bits.map((bit) => ({ ...good, leafHash: flip(good.leafHash, bit) })),
          ...bits.map((bit) => ({ ...good, rootHash: flip(good.rootHash, bit) })),
          ...good.hashes.flatMap((hash, i) =>
            bits.map((bit) => ({ ...good, hashes: good.hashes.with(i, flip(hash, bit)) })),
          ),
          ...INDEX_BITS.map((bit) => ({ ...good, leafIndex: good.leafIndex ^ (1n << bit) })),
          { ...good, leafIndex: -1n },
          { ...good, hashes: [...good.hashes, root(size)] },
          ...(good.hashes.length > 0
            ? [
                { ...good, hashes: good.hashes.slice(1) },
                { ...good, hashes: good.hashes.slice(0, -1) },
              ]
            : []),
        ];
        for (const each of bad)
          if (!refuses(() => verifyInclusion(each)))
            expect.fail(`leaf ${index} of ${size} was accepted changed`);
      }
    }
  });

  /**
   * The root does not contain the size: a proof can fit a tree of another size whose path has the
   * same shape. RFC 9162 takes the size from the same signed checkpoint as the root. These tests
   * check that the shape decides.
   */
  it("fails for another size wherever the path there has another length", () => {
    for (let size = 1; size <= 33; size++) {
      for (let index = 0; index < size; index++) {
        const hashes = proveInclusion(index, size, announced(inclusionCoordinates(index, size)).read);
        for (let other = index + 1; other <= 66; other++) {
          const fits = proveInclusionShape(index, other) === proveInclusionShape(index, size);
          const proof = {
            leafIndex: BigInt(index),
            treeSize: BigInt(other),
            leafHash: leaf(index),
            rootHash: root(size),
            hashes,
          };
          if (refuses(() => verifyInclusion(proof)) === fits)
            expect.fail(`leaf ${index} of ${size} as of ${other}`);
        }
      }
    }
  });
});

/**
 * The side on which each hash of the path joins, from the leaf up: all that the verifier takes from
 * index and size.
 */
function proveInclusionShape(index: number, size: number): string {
  let [start, end] = [0, size];
  let shape = "";
  while (end - start > 1) {
    let k = 1;
    while (k * 2 < end - start) k *= 2;
    const isLeft = index < start + k;
    shape = (isLeft ? "r" : "l") + shape;
    if (isLeft) end = start + k;
    else start += k;
  }
  return shape;
}

describe(`every consistency proof between trees up to ${LARGEST} leaves`, () => {
  it("verifies, and fails with any one bit flipped", () => {
    for (let to = 1; to <= LARGEST; to++) {
      for (let from = 1; from <= to; from++) {
        const { read, unread } = announced(consistencyCoordinates(from, to));
        const good = {
          from: BigInt(from),
          to: BigInt(to),
          fromRoot: root(from),
          toRoot: root(to),
          hashes: proveConsistency(from, to, read),
        };
        expect(unread()).toBe(0);
        verifyConsistency(good);
        const bits = bitsFor(to);
        const bad = [
          ...bits.map((bit) => ({ ...good, fromRoot: flip(good.fromRoot, bit) })),
          ...bits.map((bit) => ({ ...good, toRoot: flip(good.toRoot, bit) })),
          ...good.hashes.flatMap((hash, i) =>
            bits.map((bit) => ({ ...good, hashes: good.hashes.with(i, flip(hash, bit)) })),
          ),
          { ...good, from: 0n },
          { ...good, from: -good.from },
          { ...good, from: good.to + 1n },
          { ...good, hashes: [...good.hashes, root(to)] },
          ...(good.hashes.length > 0
            ? [
                { ...good, hashes: good.hashes.slice(1) },
                { ...good, hashes: good.hashes.slice(0, -1) },
              ]
            : []),
        ];
        for (const each of bad)
          if (!refuses(() => verifyConsistency(each))) expect.fail(`${from} to ${to} was accepted changed`);
      }
    }
  });

  it("fails between any two trees that do not extend each other", () => {
    const fork = CompactRange.empty();
    for (const hash of leaves.slice(0, 40)) fork.append(hash === leaf(3) ? leaf(4) : hash);
    for (let from = 4; from <= 40; from++) {
      const hashes = proveConsistency(from, 40, announced(consistencyCoordinates(from, 40)).read);
      expect(() =>
        verifyConsistency({ from: BigInt(from), to: 40n, fromRoot: root(from), toRoot: fork.root(), hashes }),
      ).toThrow(ProofError);
    }
  });
});
