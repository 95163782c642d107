import fc from "fast-check";
import { CompactRange, type Hash, TILE_WIDTH, leafHash, proveInclusion } from "@attestore/proof";
import { expect, test } from "vitest";
import { LogCorruption } from "../log-corruption.ts";
import { TreeBuilder } from "./log-appends.ts";

const leaf = (index: number): Hash => leafHash(new TextEncoder().encode(`leaf ${index}`));

/** Every node of a tree, to compare with. */
function wholeTree(size: number): { range: CompactRange; nodes: Map<string, Hash> } {
  const range = CompactRange.empty();
  const nodes = new Map<string, Hash>();
  for (let index = 0; index < size; index++)
    range.append(leaf(index), (level, node, hash) => nodes.set(`${level}/${node}`, hash));
  return { range, nodes };
}

test("from the right edge alone come the same root and proofs as from the whole tree", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 1, max: 300 }), (before, more) => {
      const growth = new TreeBuilder(wholeTree(before).range);
      for (let index = before; index < before + more; index++) expect(growth.append(leaf(index))).toBe(index);
      const { range, nodes } = wholeTree(before + more);
      expect(growth.root()).toEqual(range.root());
      expect(growth.rightEdge).toEqual(range.hashes);
      const read = (level: number, index: number): Hash => {
        const hash = nodes.get(`${level}/${index}`);
        if (hash === undefined) throw new Error("no such node");
        return hash;
      };
      for (let index = before; index < before + more; index++)
        expect(growth.inclusionProof(index)).toEqual(proveInclusion(index, before + more, read));
    }),
    { numRuns: 40 },
  );
});

test("an append names the tiles that became full", () => {
  const growth = new TreeBuilder(wholeTree(TILE_WIDTH - 1).range);
  expect(growth.completedTiles).toEqual([]);
  growth.append(leaf(TILE_WIDTH - 1));
  expect(growth.completedTiles).toEqual([{ level: 0, index: 0, rootHash: growth.root() }]);
  for (let index = TILE_WIDTH; index < 2 * TILE_WIDTH; index++) growth.append(leaf(index));
  expect(growth.completedTiles.map(({ level, index }) => [level, index])).toEqual([
    [0, 0],
    [0, 1],
  ]);
});

test("the range that it grew from stays as it was", () => {
  const { range } = wholeTree(5);
  const root = range.root();
  new TreeBuilder(range).append(leaf(5));
  expect(range.size).toBe(5);
  expect(range.root()).toEqual(root);
});

test("a leaf that was there before has no proof in memory", () => {
  const growth = new TreeBuilder(wholeTree(8).range);
  growth.append(leaf(8));
  expect(() => growth.inclusionProof(3)).toThrow(LogCorruption);
});
