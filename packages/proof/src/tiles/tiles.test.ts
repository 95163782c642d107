import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatBytes, type Hash, utf8 } from "../bytes.ts";
import { CompactRange } from "../merkle/compact-range.ts";
import { inclusionCoordinates } from "../merkle/coordinates.ts";
import { leafHash } from "../merkle/hashing.ts";
import { proveInclusion } from "../merkle/prove.ts";
import { verifyInclusion } from "../merkle/verify-inclusion.ts";
import { ProofError } from "../proof-error.ts";
import { decodeEntryBundle, encodeEntryBundle } from "./entry-bundle.ts";
import { hashesInTile, nodeFromTile, TILE_HEIGHT, tileOfNode } from "./tile-hashes.ts";
import { parseTilePath, TILE_WIDTH, tilePath } from "./tile-path.ts";

describe("tile paths", () => {
  it.each([
    [{ level: 0, index: 1234067, width: 256 }, "tile/0/x001/x234/067"],
    [{ level: 0, index: 0, width: 256 }, "tile/0/000"],
    [{ level: 0, index: 273, width: 112 }, "tile/0/273.p/112"],
    [{ level: 1, index: 1, width: 17 }, "tile/1/001.p/17"],
    [{ level: 2, index: 0, width: 1 }, "tile/2/000.p/1"],
    [{ level: 63, index: 999, width: 255 }, "tile/63/999.p/255"],
    [{ level: 0, index: 1000, width: 256 }, "tile/0/x001/000"],
    [{ level: "entries" as const, index: 123456789, width: 8 }, "tile/entries/x123/x456/789.p/8"],
  ])("%j is %s", (tile, path) => {
    expect(tilePath(tile)).toBe(path);
    expect(parseTilePath(path)).toEqual(tile);
  });

  it("round-trip", () => {
    const tile = fc.record({
      level: fc.oneof(fc.integer({ min: 0, max: 63 }), fc.constant("entries" as const)),
      index: fc.maxSafeNat(),
      width: fc.integer({ min: 1, max: 256 }),
    });
    fc.assert(
      fc.property(tile, (each) => {
        expect(parseTilePath(tilePath(each))).toEqual(each);
      }),
    );
  });

  it.each([
    "tile/0/0",
    "tile/0/x000/001",
    "tile/00/001",
    "tile/64/001",
    "tile/0/001.p/0",
    "tile/0/001.p/256",
    "tile/0/001.p/01",
    "tile/0/x001",
    "tile/0/001/",
    "/tile/0/001",
    "tile/0/001/002",
    "tile/0/x999/x999/x999/x999/x999/999",
    "tile/-1/000",
    "tile/0/000\n",
    "tile/entries/../000",
  ])("refuses %j", (path) => {
    expect(() => parseTilePath(path)).toThrow(ProofError);
  });

  it("refuses to name tiles that cannot exist", () => {
    for (const tile of [
      { level: 64, index: 0, width: 1 },
      { level: 0, index: -1, width: 1 },
      { level: 0, index: 0, width: 0 },
      { level: 0, index: 0, width: 257 },
    ])
      expect(() => tilePath(tile)).toThrow(ProofError);
  });
});

describe("hashes in tiles", () => {
  it("have the counts of the specification's examples", () => {
    const widths = (level: number, size: number): number[] => {
      const found: number[] = [];
      for (let index = 0; hashesInTile(level, index, size) > 0; index++)
        found.push(hashesInTile(level, index, size));
      return found;
    };
    expect(widths(0, 70_000)).toEqual([...Array.from({ length: 273 }, () => 256), 112]);
    expect(widths(1, 70_000)).toEqual([256, 17]);
    expect(widths(2, 70_000)).toEqual([1]);
    expect(widths(3, 70_000)).toEqual([]);
    expect(widths(0, 256)).toEqual([256]);
    expect(widths(1, 256)).toEqual([1]);
    expect(hashesInTile(7, 0, Number.MAX_SAFE_INTEGER)).toBe(0);
  });

  it("give every node that a proof in a tree of 70,000 leaves needs", () => {
    const size = 70_000;
    const tiles = new Map<string, Hash[]>();
    const range = CompactRange.empty();
    for (let i = 0; i < size; i++) {
      range.append(leafHash(utf8(`${i}`)), (level, index, hash) => {
        if (level % TILE_HEIGHT !== 0) return;
        const key = `${level / TILE_HEIGHT}/${Math.floor(index / TILE_WIDTH)}`;
        tiles.set(key, [...(index % TILE_WIDTH === 0 ? [] : (tiles.get(key) ?? [])), hash]);
      });
    }
    for (const [key, hashes] of tiles) {
      const [level = 0, index = 0] = key.split("/").map(Number);
      expect(hashes.length).toBe(hashesInTile(level, index, size));
    }
    const read = (level: number, index: number): Hash => {
      const node = tileOfNode(level, index);
      return nodeFromTile(concatBytes(...(tiles.get(`${node.tileLevel}/${node.tileIndex}`) ?? [])), node);
    };
    for (const index of [0, 1, 255, 256, 65_535, 65_536, 69_887, 69_888, 69_999]) {
      expect(inclusionCoordinates(index, size).length).toBeGreaterThan(0);
      verifyInclusion({
        leafIndex: BigInt(index),
        treeSize: BigInt(size),
        leafHash: leafHash(utf8(`${index}`)),
        rootHash: range.root(),
        hashes: proveInclusion(index, size, read),
      });
    }
  });

  it("are never read past the end of a tile", () => {
    expect(() => nodeFromTile(new Uint8Array(32 * 3), { offset: 2, count: 2 })).toThrow(ProofError);
    expect(() => nodeFromTile(new Uint8Array(33), { offset: 0, count: 1 })).toThrow(ProofError);
  });
});

describe("entry bundles", () => {
  it("have a big-endian length before each entry", () => {
    const bundle = encodeEntryBundle([utf8("ab"), utf8(""), new Uint8Array(258)]);
    expect(Array.from(bundle.subarray(0, 8))).toEqual([0, 2, 0x61, 0x62, 0, 0, 1, 2]);
  });

  it("round-trip", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (entries) => {
        expect(decodeEntryBundle(encodeEntryBundle(entries), entries.length)).toEqual(entries);
      }),
    );
  });

  it("hold the largest leaf and refuse a larger one", () => {
    expect(decodeEntryBundle(encodeEntryBundle([new Uint8Array(65_535)]), 1)[0]).toHaveLength(65_535);
    expect(() => encodeEntryBundle([new Uint8Array(65_536)])).toThrow(ProofError);
  });

  it("refuse a wrong number of entries, truncation and trailing bytes", () => {
    const bundle = encodeEntryBundle([utf8("ab"), utf8("c")]);
    for (const count of [0, 1, 3]) expect(() => decodeEntryBundle(bundle, count)).toThrow(ProofError);
    for (let length = 0; length < bundle.length; length++)
      expect(() => decodeEntryBundle(bundle.subarray(0, length), 2)).toThrow(ProofError);
    expect(() => decodeEntryBundle(concatBytes(bundle, Uint8Array.of(0)), 2)).toThrow(ProofError);
  });
});
