import { describe, expect, it, test } from "vitest";
import { candidates, drawOf } from "../../test/draw-fixture.ts";
import vectors from "../../test/draw-vectors.json" with { type: "json" };
import {
  bundleOf,
  ids,
  LOG_NAME,
  restoreTestStatement,
  signedCheckpoint,
  signPayload,
} from "../../test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../test/signing-keys.ts";
import { utf8 } from "../bytes.ts";
import { hashFromHex, toHex } from "../hex.ts";
import { noteSignatureLine, parseNote } from "../notes/note.ts";
import { ProofError } from "../proof-error.ts";
import { sha256 } from "#sha256";
import { drawCommitment, drawnIndex, drawSeed, MAX_CANDIDATES, openDraw } from "./draw.ts";
import { parseStatement } from "./parse-statement.ts";
import type { Draw } from "./statement.ts";
import { type ReceiptVerdict, verifyReceipt } from "./verify-receipt.ts";

const [agent, log, otherLog] = [await ed25519Key(1), await ed25519Key(3), await ed25519Key(4)];
const logKey = verifierOf(log, LOG_NAME);
const draw = await drawOf({ log });

/** The verdict on a signed, logged restore test of `backupId` with that draw. */
async function verdictOf(
  made: Draw,
  { backupId, index = 5, hasKey = true }: { backupId?: string; index?: number; hasKey?: boolean } = {},
): Promise<ReceiptVerdict> {
  const tested = backupId ?? (await openDraw(made, logKey)).backupId;
  const { subject, predicate, ...rest } = restoreTestStatement();
  const statement = {
    ...rest,
    subject: [{ ...subject[0], name: tested }] as typeof subject,
    predicate: { ...predicate, backup_id: tested, draw: made },
  };
  const envelope = await signPayload(utf8(JSON.stringify(statement)), agent);
  const bundle = await bundleOf({ statement, envelope, agent, log }, { index, size: index + 4 });
  return verifyReceipt({ bundle, publicKey: agent.publicKey, logKey: hasKey ? logKey : undefined });
}

const of = ({ checks }: ReceiptVerdict) => checks.find(({ id }) => id === "draw");
const codeOf = (made: Draw): Promise<string> =>
  openDraw(made, logKey).then(
    () => "none",
    (error: unknown) => (error instanceof ProofError ? error.code : String(error)),
  );

describe("the choice of a seed", () => {
  test.each(vectors.indices)("$index among $count", ({ seed, count, index }) => {
    expect(drawnIndex(hashFromHex(seed), count)).toBe(index);
  });

  test.each([1, 2, 3, 7, 60, MAX_CANDIDATES])("is each of %i as often, but for chance", (count) => {
    const each = 20;
    const seen = Array.from({ length: count }, () => 0);
    for (let i = 0; i < count * each; i++) {
      const index = drawnIndex(sha256(utf8(`seed ${i}`)), count);
      seen[index] = (seen[index] ?? 0) + 1;
    }
    // Chi-square has the mean count - 1 and the variance twice that.
    const chi = seen.reduce((sum, n) => sum + (n - each) ** 2 / each, 0);
    expect(Math.abs(chi - (count - 1))).toBeLessThanOrEqual(4 * Math.sqrt(2 * (count - 1)));
  });

  test.each([0, -1, 1.5, 65_537, NaN])("is nothing among %d", (count) => {
    expect(() => drawnIndex(hashFromHex("00".repeat(32)), count)).toThrow(ProofError);
  });
});

describe("a whole draw", () => {
  it("matches the vectors", async () => {
    const { draw: made, verifier_key_seed, ...expected } = vectors.whole;
    const key = verifierOf(await ed25519Key(verifier_key_seed), LOG_NAME);
    const opened = await openDraw(made as Draw, key);
    const signature = parseNote(made.checkpoint).signatures[0]?.signature ?? new Uint8Array(0);
    const secret = hashFromHex(made.secret);
    expect(drawCommitment(secret)).toBe(expected.commitment);
    const seed = drawSeed({ leafHash: hashFromHex(expected.leaf_hash), secret, signature });
    expect(toHex(seed)).toBe(expected.seed);
    expect(opened).toMatchObject({ backupId: expected.backup_id, candidates });
  });

  it("makes the test of the chosen backup true, and of any other false", async () => {
    const { backupId } = await openDraw(draw, logKey);
    const verdict = await verdictOf(draw);
    expect(verdict.verdict).toBe("true");
    expect(of(verdict)).toMatchObject({ result: "held", detail: expect.stringContaining(backupId) });
    for (const other of candidates.filter((id) => id !== backupId)) {
      const wrong = await verdictOf(draw, { backupId: other });
      expect(wrong.verdict).toBe("false");
      expect(of(wrong)).toMatchObject({
        result: "failed",
        detail: expect.stringContaining(`chose ${backupId}`),
      });
    }
  });

  it("is not decided without the log's key, and false for a wrong choice all the same", async () => {
    const verdict = await verdictOf(draw, { hasKey: false });
    expect([verdict.verdict, of(verdict)?.result]).toEqual(["cannot_tell", "not_checked"]);
    const { backupId } = await openDraw(draw, logKey);
    const other = candidates.find((id) => id !== backupId) ?? "";
    expect((await verdictOf(draw, { hasKey: false, backupId: other })).verdict).toBe("false");
  });

  it("is decided by the first head that covers it, and by no later one", async () => {
    const later = await drawOf({ log, size: 6 });
    expect(await codeOf(later)).toBe("draw_invalid");
    expect((await verdictOf(later, { backupId: candidates[0] ?? "" })).verdict).toBe("false");
  });

  it("is before its receipt in the log", async () => {
    expect((await verdictOf(draw, { index: 4 })).verdict).toBe("false");
    expect((await verdictOf(draw, { index: 3 })).verdict).toBe("false");
  });

  it("does not change with signatures that somebody adds, and has one of the log", async () => {
    const opened = await openDraw(draw, logKey);
    const stranger = verifierOf(otherLog, "witness.example/w");
    const more = draw.checkpoint + noteSignatureLine(stranger, new Uint8Array(64).fill(9));
    expect((await openDraw({ ...draw, checkpoint: more }, logKey)).backupId).toBe(opened.backupId);
    const twin = draw.checkpoint + noteSignatureLine({ name: LOG_NAME, keyId: 1 }, new Uint8Array(64));
    expect(await codeOf({ ...draw, checkpoint: twin })).toBe("draw_invalid");
  });

  it("is refused with another secret, log, leaf, declaration or candidate", async () => {
    const otherCheckpoint = await signedCheckpoint(otherLog, 5, sha256(utf8("root")));
    const other = await drawOf({ log, among: candidates.slice(1) });
    const cases: [string, Draw, string][] = [
      ["secret", { ...draw, secret: "00".repeat(32) }, "draw_invalid"],
      ["log", { ...draw, checkpoint: otherCheckpoint }, "note_signature_missing"],
      [
        "leaf",
        { ...draw, leaf: { ...draw.leaf, recorded_at: "2026-11-20T01:59:02.000Z" } },
        "inclusion_invalid",
      ],
      ["kind", { ...draw, leaf: { ...draw.leaf, kind: "change_accepted" } }, "draw_invalid"],
      ["agent", { ...draw, leaf: { ...draw.leaf, actor_id: ids.agent.replace("4c", "4d") } }, "draw_invalid"],
      ["declaration", { ...draw, statement: other.statement }, "draw_invalid"],
      ["place", { ...draw, log_index: 3 }, "draw_invalid"],
      ["proof", { ...draw, hashes: draw.hashes.slice(1) }, "inclusion_invalid"],
    ];
    for (const [what, made, code] of cases) expect(await codeOf(made), what).toBe(code);
  });

  it("names each candidate once, in order", async () => {
    const [a = "", b = ""] = candidates;
    for (const among of [[b, a], [a, a], []])
      expect(await codeOf(await drawOf({ log, among })), among.join()).toBe("malformed_draw");
  });

  it("leaves out kept backups only where there is no room for more", async () => {
    const many = Array.from(
      { length: MAX_CANDIDATES },
      (_, n) => `bkp_01jd3gqp7yc03q0r9z4q1g${String(n).padStart(4, "0")}`,
    );
    // Among one candidate, the host has chosen.
    const chosen = await drawOf({ log, among: candidates.slice(0, 1), detail: { omitted: 6 } });
    expect(await codeOf(chosen)).toBe("malformed_draw");
    expect((await verdictOf(chosen, { backupId: candidates[0] ?? "" })).verdict).toBe("false");
    const one = { log, among: many.slice(1), detail: { omitted: 1 } };
    expect(await codeOf(await drawOf(one))).toBe("malformed_draw");
    expect(await codeOf(await drawOf({ ...one, among: many }))).toBe("none");
    expect(await codeOf(await drawOf({ ...one, detail: { omitted: 0 } }))).toBe("none");
  });

  it("belongs to the test's own agent and source", async () => {
    const made = await drawOf({ log, predicate: { source_id: ids.source.replace("6d", "6e") } });
    const verdict = await verdictOf(made);
    expect(verdict.verdict).toBe("false");
    expect(of(verdict)?.detail).toContain("the draw is of");
  });

  it("of a later version is not read, and not false", async () => {
    const verdict = await verdictOf({ ...draw, v: 2 as 1 }, { backupId: candidates[0] ?? "" });
    expect(verdict.verdict).toBe("cannot_tell");
    const later = await drawOf({ log, detail: { v: 2 } });
    expect((await verdictOf(later, { backupId: candidates[0] ?? "" })).verdict).toBe("cannot_tell");
  });

  it("is a known field for the service, and its parts have their form", () => {
    const statement = restoreTestStatement();
    const issues = (made: unknown) => {
      const predicate = { ...statement.predicate, draw: made };
      const parsed = parseStatement(utf8(JSON.stringify({ ...statement, predicate })));
      return parsed.ok ? [] : parsed.issues.map(({ path }) => path);
    };
    expect(issues(draw)).toEqual([]);
    expect(issues({ ...draw, secret: "ab" })).toEqual(["/predicate/draw/secret"]);
    expect(issues({ ...draw, more: 1 })).toEqual(["/predicate/draw/more"]);
    expect(issues({ ...draw, leaf: {} })).not.toEqual([]);
  });
});
