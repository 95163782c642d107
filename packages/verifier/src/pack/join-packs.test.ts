import { hashFromHex, type Manifest, type Rollback } from "@attestore/proof";
import { expect, test } from "vitest";
import { joinPacks } from "./join-packs.ts";
import type { PackOutcome } from "./verify-pack.ts";

const [ROOT, OTHER] = ["0a".repeat(32), "0b".repeat(32)];
const LOG = "log.example.com/org_01jd3gqk7vfx0t6r4t9m2c8w5a";

interface Made {
  size: number;
  day: number;
  generation?: number;
  lost?: { size: number; root: string }[];
  roots?: [number, string][];
}

/** A true pack of a day in November. The log was rolled back to 10 entries, if it was. */
function pack({ size, day, generation = 1, lost = [], roots = [] }: Made): PackOutcome {
  const origin = generation === 1 ? LOG : `${LOG}/${generation}`;
  const rollback: Rollback = {
    generation: 2,
    origin: `${LOG}/2`,
    ended: LOG,
    size: 10,
    rootHash: hashFromHex(ROOT),
    lost: lost.map(({ size: of, root }) => ({ origin: LOG, size: of, rootHash: hashFromHex(root) })),
    by: "alice",
    because: "failover",
    eventId: "evt_01jd3gqq8zb14p1s0a5r2h0y8f",
    at: "2026-11-03T00:00:00.000Z",
  };
  const at = (n: number): string => `2026-11-${String(n).padStart(2, "0")}T00:00:00.000Z`;
  return {
    pack: `${day}.zip`,
    verdict: "true",
    manifest: {
      org_id: "org_01jd3gqk7vfx0t6r4t9m2c8w5a",
      period: { from: at(day), to: at(day + 1) },
      exported_at: at(day + 1),
      log: { origin, tree_size: size, root_hash: ROOT },
    } as Manifest,
    summary: null,
    checks: [],
    basis: null,
    roots: new Map([[size, ROOT], ...roots]),
    compared: null,
    generations: { rollbacks: generation === 1 ? [] : [rollback], lost: [], ids: new Set() },
    error: null,
  };
}

const oneLog = (...packs: PackOutcome[]) => joinPacks(packs)[0]?.checks.find(({ id }) => id === "one_log");

test("a pack whose checkpoint the log lost connects to a later one that names it with its root", () => {
  const before = pack({ size: 12, day: 1 });
  const lost = [{ size: 12, root: ROOT }];
  expect(oneLog(before, pack({ size: 14, day: 2, generation: 2, lost }))).toMatchObject({
    result: "held",
    detail: expect.stringContaining("named as lost: 12 of 1.zip"),
  });
});

test("a lost checkpoint that no event names, or with another root, does not connect", () => {
  const before = pack({ size: 12, day: 1 });
  for (const lost of [[], [{ size: 12, root: OTHER }], [{ size: 11, root: ROOT }]])
    expect(oneLog(before, pack({ size: 14, day: 2, generation: 2, lost }))).toMatchObject({
      result: "not_checked",
      detail: expect.stringContaining("none of its events names that head"),
    });
});

test("two roots of the remaining entries are a fork, whatever came after", () => {
  const before = pack({ size: 12, day: 1, roots: [[9, ROOT]] });
  const later = pack({
    size: 14,
    day: 2,
    generation: 2,
    lost: [{ size: 12, root: ROOT }],
    roots: [[9, OTHER]],
  });
  expect(oneLog(before, later)).toMatchObject({
    result: "failed",
    detail: expect.stringContaining("forked"),
  });
  // Beyond what was left, each generation has its own entries.
  const apart = pack({
    size: 14,
    day: 2,
    generation: 2,
    lost: [{ size: 12, root: ROOT }],
    roots: [[12, OTHER]],
  });
  expect(oneLog(before, apart)?.result).toBe("held");
});
