import {
  CompactRange,
  formatCheckpoint,
  formatNote,
  formatVerifierKey,
  type Hash,
  leafHash,
  noteSignatureLine,
  proveConsistency,
  toHex,
  utf8,
} from "@attestore/proof";
import { beforeAll, describe, expect, test } from "vitest";
import { ed25519Key, type TestKey, verifierOf } from "../../../proof/test/signing-keys.ts";
import type { HeldHead } from "../verifier/held-head.ts";
import {
  type ConsistencySource,
  type GenerationsSource,
  type Observation,
  observeHead,
} from "./observe-head.ts";

const ORIGIN = "log.example.com/org_01jd3gqk7vfx0t6r4t9m2c8w5a";
const NOW = new Date("2026-11-21T08:00:00.000Z");
let key: TestKey;
let other: TestKey;
beforeAll(async () => {
  [key, other] = await Promise.all([ed25519Key(3), ed25519Key(4)]);
});

/**
 * A log whose leaves are `history` and their numbers: another history is another log under the same
 * key.
 */
function treeOf(history: string) {
  const nodes = new Map<string, Hash>();
  const roots: Hash[] = [];
  const range = CompactRange.empty();
  roots.push(range.root());
  for (let n = 0; n < 40; n += 1) {
    range.append(leafHash(utf8(`${history} ${n}`)), (level, index, node) =>
      nodes.set(`${level}/${index}`, node),
    );
    roots.push(range.root());
  }
  const read = (level: number, index: number): Hash => nodes.get(`${level}/${index}`) ?? new Uint8Array(0);
  return {
    head: async (size: number, by = key) => {
      const verifier = verifierOf(by, ORIGIN);
      const text = formatCheckpoint({ origin: ORIGIN, size, rootHash: roots[size] ?? new Uint8Array(0) });
      return {
        checkpoint: formatNote(text, [noteSignatureLine(verifier, await by.sign(utf8(text)))]),
        verifier_key: formatVerifierKey(verifier),
      };
    },
    prove: ((from, to) =>
      Promise.resolve(
        from === 0n ? [] : proveConsistency(Number(from), Number(to), read).map(toHex),
      )) satisfies ConsistencySource,
  };
}

const honest = treeOf("honest");
const lying = treeOf("lying");
const noLoss: GenerationsSource = () => Promise.reject(new Error("the log is in its first generation"));
const never: ConsistencySource = () => Promise.reject(new Error("no proof is needed"));

const look = (
  offered: { checkpoint: string; verifier_key: string },
  before: HeldHead | null,
  prove: ConsistencySource,
): Promise<Observation> =>
  observeHead(offered, { held: before, alarm: null }, { prove, generations: noLoss }, NOW);

async function held(size: number): Promise<HeldHead> {
  return (await look(await honest.head(size), null, never)).keep;
}

const observe = async (
  size: number,
  before: HeldHead | null,
  prove: ConsistencySource = honest.prove,
): Promise<Observation> => look(await honest.head(size), before, prove);

describe("a log that only grows", () => {
  test("is stored with its key when it is first seen, without a proof", async () => {
    const { outcome, keep } = await observe(7, null, never);
    expect(outcome).toBe("first");
    expect(keep).toEqual({ ...(await honest.head(7)), since: NOW.toISOString(), seen_at: NOW.toISOString() });
  });

  test("needs no proof if it is unchanged", async () => {
    expect((await observe(7, await held(7), never)).outcome).toBe("same");
  });

  test("is proven between every pair of sizes, and keeps its key's age", async () => {
    for (const from of [0, 1, 2, 3, 7, 8, 31, 39])
      for (const to of [from + 1, 40]) {
        const before = { ...(await held(from)), since: "2026-01-01T00:00:00.000Z" };
        const { outcome, keep } = await observe(to, before);
        expect(outcome, `${from} to ${to}`).toBe("grown");
        expect(keep.since).toBe(before.since);
        expect(keep.checkpoint).toBe((await honest.head(to)).checkpoint);
      }
  });

  test("may answer with an older head that it proves, and the newer one stays stored", async () => {
    const before = await held(20);
    expect(await observe(12, before)).toMatchObject({ outcome: "overtaken", keep: before });
  });
});

describe("a split view", () => {
  test.each([
    ["another root of the same size", 9, 9, lying.prove, "head_forked"],
    ["a larger tree of another history", 9, 20, lying.prove, "head_inconsistent"],
    ["a larger tree without a proof", 9, 20, () => Promise.resolve(null), "head_inconsistent"],
    ["a proof of noise", 9, 20, () => Promise.resolve(["ab".repeat(32)]), "head_inconsistent"],
    ["a proof that is no proof", 9, 20, () => Promise.resolve(["xyz"]), "head_inconsistent"],
    ["a smaller tree, the larger one gone", 20, 9, () => Promise.resolve(null), "head_rolled_back"],
    ["a smaller tree of another history", 20, 9, honest.prove, "head_forked"],
  ] as const)("%s", async (_what, before, after, prove, reason) => {
    const seen = look(await lying.head(after), await held(before), prove);
    await expect(seen).rejects.toMatchObject({ name: "SplitViewError", reason });
  });

  test("is reported for a new key, and for a head that the key did not sign", async () => {
    const before = await held(9);
    const foreign = await honest.head(9, other);
    await expect(look(foreign, before, never)).rejects.toMatchObject({ reason: "key_changed" });
    const unsigned = { ...(await honest.head(9)), checkpoint: foreign.checkpoint };
    for (const kept of [before, null])
      await expect(look(unsigned, kept, never)).rejects.toMatchObject({
        reason: "head_unsigned",
      });
  });
});

test("a missing answer is not a split view", async () => {
  const away = () => Promise.reject(new TypeError("fetch failed"));
  await expect(observe(20, await held(9), away)).rejects.toBeInstanceOf(TypeError);
});

test("a stored head that was tampered with proves nothing", async () => {
  const before = await held(9);
  const changed = { ...before, checkpoint: before.checkpoint.replace("\n9\n", "\n8\n") };
  await expect(observe(20, changed)).rejects.toMatchObject({ name: "ProofError" });
});
