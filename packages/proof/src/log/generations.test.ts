import { describe, expect, it } from "vitest";
import { GenerationsLog, otherRoot } from "../../test/generations-fixture.ts";
import {
  backupStatement,
  bundleOf,
  ids,
  LOG_NAME,
  signedCheckpoint,
  signStatement,
} from "../../test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../test/signing-keys.ts";
import type { ServiceEventBundle } from "./service-event.ts";
import { toHex } from "../hex.ts";
import { leafHash } from "../merkle/hashing.ts";
import { formatVerifierKey } from "../notes/verifier-key.ts";
import { parseBundle, type ReceiptBundle } from "../receipts/bundle.ts";
import { verifyReceipt } from "../receipts/verify-receipt.ts";
import { formatLeaf } from "./leaf.ts";
import {
  firstGenerationKey,
  isLogOf,
  keyOfGeneration,
  openLogCheckpoint,
  parseLogName,
} from "./generation-name.ts";
import { requireNoFork, verifyGenerations, verifyLostHead, verifyRollback } from "./rolled-back.ts";

const key = await ed25519Key(3);
const otherKey = await ed25519Key(4);
const logKey = verifierOf(key, LOG_NAME);
const agent = await ed25519Key(1);

/** A log of 12 entries of which 7 are left, with the head of 12 named as lost. */
async function rolledBack() {
  const log = new GenerationsLog(key, 12);
  const lost = { size: 12, rootHash: log.root() };
  const event = await log.rollBack(7, [lost]);
  return { log, lost, event };
}

describe("the origin of a log's generation", () => {
  it("is that of the first with a slash and the number, and nothing else is one", () => {
    expect(parseLogName(LOG_NAME)).toEqual({ first: LOG_NAME, generation: 1 });
    expect(parseLogName(`${LOG_NAME}/2`)).toEqual({ first: LOG_NAME, generation: 2 });
    expect(parseLogName(`${LOG_NAME}/31`)).toEqual({ first: LOG_NAME, generation: 31 });
    for (const end of ["/0", "/1", "/02", "/+2", "/2 ", "/-2", "/2.0", "/", "/two", "/10000", "/²", "/2\n"])
      expect(() => parseLogName(`${LOG_NAME}${end}`), end).toThrow("is not the name of a log's generation");
    expect(isLogOf(`${LOG_NAME}/2`, ids.org)).toBe(true);
    expect(isLogOf(`${LOG_NAME}/1`, ids.org)).toBe(false);
    expect(isLogOf(`${LOG_NAME}/2/3`, ids.org)).toBe(false);
    expect(isLogOf(`log.example.com/${ids.otherOrg}/2`, ids.org)).toBe(false);
  });

  it("has the log's one key, whichever generation's name the key was given under", () => {
    const second = keyOfGeneration(logKey, `${LOG_NAME}/2`);
    expect(second).toEqual(verifierOf(key, `${LOG_NAME}/2`));
    expect(second.keyId).not.toBe(logKey.keyId);
    expect(firstGenerationKey(second)).toEqual(logKey);
    expect(keyOfGeneration(second, LOG_NAME)).toEqual(logKey);
    for (const other of [`log.example.com/${ids.otherOrg}/2`, `evil.example.com/${ids.org}/2`])
      expect(() => keyOfGeneration(logKey, other)).toThrow("is no generation of the log");
  });

  it("is part of what the key signs: no signature counts in two generations", async () => {
    const { log } = await rolledBack();
    expect(await openLogCheckpoint(await log.checkpoint(), logKey)).toMatchObject({ generation: 2 });
    const renamed = (await log.checkpoint()).replaceAll(`${LOG_NAME}/2`, `${LOG_NAME}/3`);
    await expect(openLogCheckpoint(renamed, logKey)).rejects.toMatchObject({
      code: "note_signature_missing",
    });
    const first = await signedCheckpoint(key, 3, log.root(3), LOG_NAME);
    await expect(
      openLogCheckpoint(first.replace(`${LOG_NAME}\n`, `${LOG_NAME}/2\n`), logKey),
    ).rejects.toMatchObject({ code: "note_signature_missing" });
    for (const [signer, origin] of [
      [key, `${LOG_NAME}/1`],
      [key, `${LOG_NAME}/02`],
      [otherKey, `${LOG_NAME}/2`],
      [key, `log.example.com/${ids.otherOrg}/2`],
    ] as const)
      await expect(
        openLogCheckpoint(await signedCheckpoint(signer, 3, log.root(3), origin), logKey),
        origin,
      ).rejects.toThrow(/is not the name|no signature by/);
  });
});

describe("the event that begins a generation", () => {
  it("is verified with the first generation's key, and says how much remained and was lost", async () => {
    const { event, lost, log } = await rolledBack();
    const rollback = await verifyRollback(event, logKey);
    expect(rollback).toMatchObject({ generation: 2, ended: LOG_NAME, size: 7, by: "alice" });
    expect(rollback.rootHash).toEqual(log.root(7));
    expect(rollback.lost).toEqual([{ origin: LOG_NAME, ...lost }]);
    const empty = new GenerationsLog(key, 3);
    expect(await verifyRollback(await empty.rollBack(0), logKey)).toMatchObject({ size: 0 });
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ["another root of what is left", { root_hash: "00".repeat(32) }, /its root is not that/],
    ["another size of what is left", { tree_size: 6 }, /not the entry after those/],
    ["a later generation than its checkpoint", { generation: 3 }, /its checkpoint is of/],
    ["the first generation", { generation: 1 }, /is not the number of a later generation/],
    ["the end of another log", { ended: `log.example.com/${ids.otherOrg}` }, /what comes before/],
    ["the end of itself", { ended: `${LOG_NAME}/2` }, /what comes before/],
    [
      "a lost head within what is left",
      { lost: [{ tree_size: 7, root_hash: "00".repeat(32) }] },
      /larger than/,
    ],
    [
      "two roots of one lost size",
      { lost: ["00", "01"].map((byte) => ({ tree_size: 12, root_hash: byte.repeat(32) })) },
      /each once/,
    ],
    ["nobody who did it", { by: "" }, /by/],
    ["no reason", { because: undefined }, /because/],
    ["a later version", { v: 2 }, /v/],
  ])("is refused if it names %s", async (_, said, why) => {
    const log = new GenerationsLog(key, 12);
    const cleaned = JSON.parse(JSON.stringify(said)) as Record<string, unknown>;
    const event = await log.rollBack(7, [], "because" in said ? { because: 5 } : cleaned);
    await expect(verifyRollback(event, logKey)).rejects.toThrow(why);
  });

  it("is refused under another key, from another organisation, at another place, and if an agent signed it", async () => {
    const { event, log } = await rolledBack();
    await expect(verifyRollback(event, verifierOf(otherKey, LOG_NAME))).rejects.toThrow(
      /names another log|no signature|does not verify/,
    );
    const strange = verifierOf(key, `log.example.com/${ids.otherOrg}`);
    await expect(verifyRollback(event, strange)).rejects.toThrow();
    const changed = (change: (copy: ServiceEventBundle) => void): ServiceEventBundle => {
      const copy = structuredClone(event);
      change(copy);
      return copy;
    };
    log.append(leafHash(formatLeaf(event.leaf)));
    for (const copy of [
      changed((bundle) => (bundle.leaf.actor_id = ids.agent)),
      changed((bundle) => (bundle.leaf.org_id = ids.otherOrg)),
      changed((bundle) => (bundle.inclusion_proof.log_index = 6)),
      changed((bundle) => (bundle.inclusion_proof.tree_size = 9)),
      changed((bundle) => (bundle.leaf.kind = "log_head_lost")),
      changed((bundle) => (bundle.log.origin = LOG_NAME)),
    ])
      await expect(verifyRollback(copy, logKey)).rejects.toMatchObject({ name: "ProofError" });
    const later = changed((bundle) => {
      bundle.inclusion_proof = { log_index: 7, tree_size: 9, hashes: log.inclusion(7).map(toHex) };
    });
    later.checkpoint = await log.checkpoint();
    await expect(verifyRollback(later, logKey)).rejects.toThrow("generation's first head");
  });

  it("is needed for each generation: none is left out, and none comes twice", async () => {
    const { log, event } = await rolledBack();
    log.append(leafHash(new Uint8Array(1)));
    const third = await log.rollBack(9);
    expect(await verifyGenerations([event, third], logKey, 3)).toHaveLength(2);
    for (const [bundles, until] of [
      [[third], 3],
      [[event], 3],
      [[event, event], 3],
      [[third, event], 3],
      [[event, third], 2],
      [[], 2],
    ] as const)
      await expect(verifyGenerations(bundles, logKey, until)).rejects.toThrow(/generation/);
    // The event that began the second generation was lost too, and the third says nothing of it.
    const log2 = await rolledBack();
    const without = await log2.log.rollBack(6);
    await expect(verifyGenerations([log2.event, without], logKey, 3)).rejects.toThrow("lacks the event");
  });
});

describe("heads that are named as lost", () => {
  it("come to light later by an event of their own, and two roots of one size are a fork", async () => {
    const { log, event, lost } = await rolledBack();
    const rollbacks = await verifyGenerations([event], logKey, 2);
    const other = { size: 10, rootHash: otherRoot(lost.rootHash) };
    const named = await verifyLostHead(await log.lose(LOG_NAME, other), logKey);
    expect(named).toEqual({ origin: LOG_NAME, ...other });
    requireNoFork(rollbacks, [named]);
    requireNoFork(rollbacks, [{ origin: LOG_NAME, ...lost }]);
    for (const fork of [
      { origin: LOG_NAME, size: 12, rootHash: otherRoot(lost.rootHash) },
      { origin: LOG_NAME, size: 7, rootHash: otherRoot(log.root(7)) },
      { origin: `${LOG_NAME}/2`, size: 12, rootHash: lost.rootHash },
    ])
      expect(() => requireNoFork(rollbacks, [fork])).toThrow(/was forked|has not ended/);
    const strange = await log.lose(`log.example.com/${ids.otherOrg}`, lost);
    await expect(verifyLostHead(strange, logKey)).rejects.toThrow("another log");
  });
});

describe("a receipt in a later generation", () => {
  const statement = backupStatement();

  /** A receipt that the log has after it was rolled back. */
  async function later(): Promise<{ bundle: ReceiptBundle; log: GenerationsLog; event: ServiceEventBundle }> {
    const { log, event } = await rolledBack();
    const envelope = await signStatement(statement, agent);
    const made = await bundleOf({ statement, envelope, agent, log: key }, { index: 0, size: 1 });
    const index = log.append(leafHash(formatLeaf(made.leaf)));
    const bundle: ReceiptBundle = {
      ...made,
      inclusion_proof: { log_index: index, tree_size: log.size, hashes: log.inclusion(index).map(toHex) },
      checkpoint: await log.checkpoint(),
      log: { origin: log.origin, verifier_key: formatVerifierKey(verifierOf(key, log.origin)) },
      generations: log.events,
    };
    return { bundle: parseBundle(JSON.stringify(bundle)), log, event };
  }
  const trusted = { publicKey: agent.publicKey, logKey };
  const lineOf = async (bundle: ReceiptBundle) => {
    const { verdict, checks } = await verifyReceipt({ bundle, ...trusted });
    return { verdict, line: checks.find(({ id }) => id === "generation") };
  };

  it("is true with the key of the first, and the verdict names the generation and the event", async () => {
    const { bundle, event } = await later();
    const { verdict, line } = await lineOf(bundle);
    expect(verdict).toBe("true");
    expect(line?.detail).toContain(`${LOG_NAME}/2 is generation 2`);
    expect(line?.detail).toContain(event.leaf.id);
    expect(line?.detail).toContain("7 entries left");
    expect(
      (await verifyReceipt({ bundle, ...trusted, logKey: verifierOf(key, `${LOG_NAME}/2`) })).verdict,
    ).toBe("true");
  });

  it("is not true without the events, with another generation's, or under another key", async () => {
    const { bundle } = await later();
    const { generations: _, ...without } = bundle;
    expect((await lineOf(without)).verdict).toBe("cannot_tell");
    expect((await lineOf({ ...bundle, generations: [] })).verdict).toBe("false");
    const logKeyOfOther = verifierOf(otherKey, LOG_NAME);
    expect((await verifyReceipt({ bundle, ...trusted, logKey: logKeyOfOther })).verdict).toBe("false");
    const origin = `${LOG_NAME}/3`;
    const claimsThird = {
      ...bundle,
      log: { origin, verifier_key: formatVerifierKey(verifierOf(key, origin)) },
    };
    claimsThird.checkpoint = await signedCheckpoint(
      key,
      bundle.inclusion_proof.tree_size,
      (await openLogCheckpoint(bundle.checkpoint, logKey)).rootHash,
      origin,
    );
    const third = await lineOf(claimsThird);
    expect(third.verdict).toBe("false");
    expect(third.line?.detail).toContain("the log is in generation 3");
  });

  it("does not mention generations in the first, where events of a later one are refused", async () => {
    const envelope = await signStatement(statement, agent);
    const bundle = await bundleOf({ statement, envelope, agent, log: key });
    expect(await lineOf(bundle)).toEqual({ verdict: "true", line: undefined });
    const { event } = await rolledBack();
    expect((await lineOf({ ...bundle, generations: [event] })).verdict).toBe("false");
  });
});
