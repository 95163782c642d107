import { describe, expect, it } from "vitest";
import {
  everyMemberRemoved,
  everyObjectExtended,
  everyTypeChanged,
  everyValueChanged,
} from "../../test/changes.ts";
import {
  backupStatement,
  bundleOf,
  CIPHERTEXT,
  ids,
  LOG_NAME,
  restoreTestStatement,
  signedCheckpoint,
  signPayload,
  signStatement,
} from "../../test/receipt-fixture.ts";
import { ed25519Key, p256Key, verifierOf } from "../../test/signing-keys.ts";
import { sha256 } from "#sha256";
import { toBase64 } from "../base64.ts";
import { utf8 } from "../bytes.ts";
import { envelopeFromJson, formatEnvelope } from "../dsse/envelope.ts";
import { hashFromHex, toHex } from "../hex.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { formatPublicKeyWire } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import { ProofError } from "../proof-error.ts";
import { parseCheckpoint } from "../notes/checkpoint.ts";
import { formatNote, noteSignatureLine, parseNote } from "../notes/note.ts";
import { formatVerifierKey } from "../notes/verifier-key.ts";
import { bundleFromJson, parseBundle, parseReceipt, type ReceiptBundle } from "./bundle.ts";
import type { CheckId } from "./check.ts";
import { type ReceiptVerdict, verifyReceipt } from "./verify-receipt.ts";

const agent = await ed25519Key(1);
const otherAgent = await ed25519Key(2);
const log = await ed25519Key(3);
const otherLog = await ed25519Key(4);
const logKey = verifierOf(log, LOG_NAME);
const ciphertextSha256 = toHex(sha256(CIPHERTEXT));

const statement = restoreTestStatement();
const envelope = await signStatement(statement, agent);
const bundle = await bundleOf({ statement, envelope, agent, log });
const trusted = { publicKey: agent.publicKey, logKey, ciphertextSha256 };

const of = ({ checks }: ReceiptVerdict, result: string): CheckId[] =>
  checks.filter((check) => check.result === result).map(({ id }) => id);

const verifyBundle = (changed: unknown): Promise<ReceiptVerdict> =>
  verifyReceipt({ bundle: bundleFromJson(changed), ...trusted });

/** Signed and logged, whatever it says. */
async function verdictOf(value: unknown): Promise<ReceiptVerdict> {
  const signed = await signPayload(utf8(JSON.stringify(value)), agent);
  const made = await bundleOf({ statement: value as typeof statement, envelope: signed, agent, log });
  return verifyReceipt({ bundle: made, ...trusted, ciphertextSha256: undefined });
}

describe("a receipt of a later version", () => {
  it("is true if it only adds fields, and the unknown fields are named", async () => {
    const { predicate, subject } = statement;
    const digest = { ...subject[0].digest, sha512: "ab".repeat(64) };
    const more = { ...statement, subject: [{ ...subject[0], digest }], predicate: { ...predicate, more: 1 } };
    const verdict = await verdictOf(more);
    expect(verdict.verdict).toBe("true");
    expect(verdict.checks.find(({ id }) => id === "statement")?.detail).toContain(
      "not read: /subject/0/digest/sha512, /predicate/more",
    );
  });

  it('has the verdict "cannot tell" if it uses unknown types or names', async () => {
    const { subject } = statement;
    for (const other of [
      { predicateType: "https://attestore.dev/restore-test/v2" },
      { subject: [{ ...subject[0], digest: { sha512: "ab".repeat(64) } }] },
    ]) {
      const verdict = await verdictOf({ ...statement, ...other });
      expect(verdict.verdict).toBe("cannot_tell");
      expect(of(verdict, "failed")).toEqual([]);
      expect(verdict.statement).toBeUndefined();
    }
  });

  it("may have unknown members around it, which are ignored", async () => {
    for (const { path, value } of everyObjectExtended(bundle))
      if (!path.startsWith("/leaf")) expect((await verifyBundle(value)).verdict, path).toBe("true");
  });
});

it("a receipt that ended before it began is false", async () => {
  const { predicate } = statement;
  const verdict = await verdictOf({
    ...statement,
    predicate: { ...predicate, finished_at: "2026-01-01T00:00:00.000Z" },
  });
  expect(verdict.verdict).toBe("false");
  expect(of(verdict, "failed")).toEqual(["statement"]);
});

describe("a receipt's bundle", () => {
  it("is true if every check passes", async () => {
    const verdict = await verifyReceipt({ bundle: parseBundle(JSON.stringify(bundle)), ...trusted });
    expect(of(verdict, "held")).toEqual([
      "signature",
      "keyid",
      "statement",
      "ciphertext",
      "public_key",
      "leaf",
      "log_key",
      "checkpoint",
      "inclusion",
    ]);
    expect(verdict).toMatchObject({ verdict: "true", statement });
    for (const { title, detail } of verdict.checks) expect(title && detail).not.toBe("");
  });

  it("is true for a backup, for an ECDSA key, and for a leaf that is alone, first or last in the log", async () => {
    const hardware = await p256Key();
    const backup = backupStatement();
    const signed = await signStatement(backup, hardware);
    for (const place of [
      { index: 0, size: 1 },
      { index: 0, size: 130 },
      { index: 129, size: 130 },
    ]) {
      const made = await bundleOf({ statement: backup, envelope: signed, agent: hardware, log }, place);
      const verdict = await verifyReceipt({ bundle: made, ...trusted, publicKey: hardware.publicKey });
      expect(of(verdict, "failed")).toEqual([]);
      expect(verdict.verdict).toBe("true");
    }
  });

  it("is true for a failed restore test, because the verdict is about the receipt", async () => {
    const failing = restoreTestStatement();
    failing.predicate.result = "failed";
    const signed = await signStatement(failing, agent);
    const verdict = await verifyReceipt({ envelope: signed, ...trusted });
    expect(verdict).toMatchObject({ verdict: "true", statement: { predicate: { result: "failed" } } });
  });

  it('is "cannot tell" without the agent\'s key, whatever key the bundle claims', async () => {
    const verdict = await verifyReceipt({ bundle, logKey });
    expect(verdict.verdict).toBe("cannot_tell");
    expect(verdict.statement).toBeUndefined();
    expect(of(verdict, "not_checked")).toEqual([
      "signature",
      "keyid",
      "statement",
      "ciphertext",
      "public_key",
    ]);
    const claimed = verdict.checks.find(({ id }) => id === "public_key");
    expect(claimed?.detail).toContain(sshFingerprint(agent.publicKey));
  });

  it('is "cannot tell" without the log\'s key, unless the log is not asked about', async () => {
    const verdict = await verifyReceipt({ bundle, publicKey: agent.publicKey });
    expect(verdict.verdict).toBe("cannot_tell");
    expect(of(verdict, "not_checked")).toEqual(["ciphertext", "log_key", "checkpoint", "inclusion"]);
    expect((await verifyReceipt({ bundle, publicKey: agent.publicKey, requireLog: false })).verdict).toBe(
      "true",
    );
  });

  it("is false even without the log's key if its proof contradicts itself", async () => {
    const unproven = structuredClone(bundle);
    unproven.inclusion_proof.log_index = 4;
    const verdict = await verifyReceipt({ bundle: unproven, publicKey: agent.publicKey, requireLog: false });
    expect(verdict.verdict).toBe("false");
    expect(of(verdict, "failed")).toEqual(["inclusion"]);
  });
});

describe("an envelope alone", () => {
  it("is true by its signature and statement, and reports that the log was not checked", async () => {
    const verdict = await verifyReceipt({ envelope, publicKey: agent.publicKey });
    expect(verdict).toMatchObject({ verdict: "true", statement });
    expect(of(verdict, "not_checked")).toEqual(["ciphertext", "inclusion"]);
    const strict = await verifyReceipt({ envelope, publicKey: agent.publicKey, requireLog: true });
    expect(strict.verdict).toBe("cannot_tell");
  });

  it("is distinguished from a bundle by its members", () => {
    expect(parseReceipt(formatEnvelope(envelope))).toEqual({ envelope });
    expect(parseReceipt(JSON.stringify(bundle))).toEqual({ bundle });
    for (const text of ["{}", "[]", "1", "null", `{"payload":""}`])
      expect(() => parseReceipt(text)).toThrow(expect.objectContaining({ code: "not_a_receipt" }) as Error);
  });

  it.each([
    ["a statement with an issue", utf8(canonicalJson({ ...statement, subject: [] }))],
    [
      "a pass without a check",
      utf8(canonicalJson({ ...statement, predicate: { ...statement.predicate, checks: [] } })),
    ],
    ["no JSON", utf8("{")],
  ])("is false when the agent signed %s", async (_what, payload) => {
    const verdict = await verifyReceipt({
      envelope: await signPayload(payload, agent),
      publicKey: agent.publicKey,
    });
    expect(verdict.verdict).toBe("false");
    expect(of(verdict, "failed")).toEqual(["statement"]);
    expect(verdict.statement).toBeUndefined();
  });

  it('is "cannot tell" if the signed type is not in-toto\'s', async () => {
    const { signEnvelope } = await import("../dsse/sign.ts");
    const keyid = sshFingerprint(agent.publicKey);
    const other = await signEnvelope({
      payloadType: "application/json",
      payload: envelope.payload,
      keyid,
      sign: agent.sign,
    });
    const verdict = await verifyReceipt({ envelope: other, publicKey: agent.publicKey });
    expect(verdict.verdict).toBe("cannot_tell");
    expect(of(verdict, "failed")).toEqual([]);
    expect(verdict.statement).toBeUndefined();
  });
});

describe("one thing changed at a time", () => {
  it("in the statement breaks the signature and the match with the leaf", async () => {
    const statements = [statement, backupStatement()];
    let changes = 0;
    for (const original of statements) {
      const signed = await signStatement(original, agent);
      const made = await bundleOf({ statement: original, envelope: signed, agent, log });
      for (const change of [
        ...everyValueChanged(original),
        ...everyMemberRemoved(original),
        ...everyTypeChanged(original),
      ]) {
        changes++;
        const payload = toBase64(utf8(canonicalJson(change.value)));
        const verdict = await verifyBundle({ ...made, envelope: { ...made.envelope, payload } });
        expect(verdict.verdict, change.path).toBe("false");
        expect(of(verdict, "failed"), change.path).toEqual(["signature", "leaf"]);
      }
    }
    expect(changes).toBeGreaterThan(300);
  });

  it("in the statement, signed again by the same agent, does not match the leaf", async () => {
    for (const { path, value } of everyValueChanged(statement)) {
      const again = await signPayload(utf8(canonicalJson(value)), agent);
      const json = JSON.parse(formatEnvelope(again)) as unknown;
      const verdict = await verifyBundle({ ...bundle, envelope: json });
      expect(verdict.verdict, path).toBe("false");
      expect(of(verdict, "failed"), path).toContain("leaf");
    }
  });

  const signatures: [string, (json: ReceiptBundle) => void, CheckId[]][] = [
    ["the payload type", (json) => (json.envelope.payloadType = "application/json"), ["signature"]],
    [
      "the keyid",
      (json) => (json.envelope.signatures[0].keyid = sshFingerprint(otherAgent.publicKey)),
      ["keyid"],
    ],
    ["no keyid", (json) => delete json.envelope.signatures[0].keyid, ["keyid"]],
    [
      "the public key",
      (json) => (json.public_key = formatPublicKeyWire(otherAgent.publicKey)),
      ["public_key"],
    ],
    ["the leaf's kind", (json) => (json.leaf.kind = "backup"), ["leaf", "inclusion"]],
    ["the leaf's org", (json) => (json.leaf.org_id = ids.otherOrg), ["leaf", "checkpoint", "inclusion"]],
    ["the leaf's id", (json) => (json.leaf.id = "rcpt_01jd3gqq8zb14p1s0a5r2h0y8g"), ["inclusion"]],
    [
      "the leaf's id's kind",
      (json) => (json.leaf.id = json.leaf.id.replace("rcpt", "evt")),
      ["leaf", "inclusion"],
    ],
    [
      "the leaf's actor",
      (json) => (json.leaf.actor_id = "agent_01jd3gqm3wey1s8p6x2n9d7v4d"),
      ["leaf", "inclusion"],
    ],
    ["the leaf's time", (json) => (json.leaf.recorded_at = "2026-11-20T02:00:42.001Z"), ["inclusion"]],
    ["the leaf's body", (json) => (json.leaf.body_sha256 = "ab".repeat(32)), ["leaf", "inclusion"]],
    ["the leaf's signature", (json) => (json.leaf.signature = "YWJj"), ["leaf", "inclusion"]],
    ["no signature in the leaf", (json) => delete json.leaf.signature, ["leaf", "inclusion"]],
    ["the index", (json) => (json.inclusion_proof.log_index = 4), ["inclusion"]],
    ["the proof's size", (json) => (json.inclusion_proof.tree_size = 12), ["inclusion"]],
    ["a hash fewer", (json) => json.inclusion_proof.hashes.pop(), ["inclusion"]],
    ["a hash more", (json) => json.inclusion_proof.hashes.push("ab".repeat(32)), ["inclusion"]],
    [
      "the log's origin",
      (json) => (json.log.origin = `log.example.org/${ids.org}`),
      ["log_key", "checkpoint"],
    ],
    [
      "the log's key",
      (json) => (json.log.verifier_key = formatVerifierKey(verifierOf(otherLog, LOG_NAME))),
      ["log_key"],
    ],
    [
      "the checkpoint's origin",
      (json) => (json.checkpoint = json.checkpoint.replace("log.example.com", "log.example.org")),
      ["checkpoint"],
    ],
    [
      "the checkpoint's size",
      (json) => (json.checkpoint = json.checkpoint.replace("\n11\n", "\n12\n")),
      ["checkpoint", "inclusion"],
    ],
    [
      "the checkpoint's size, and the proof's with it",
      (json) => {
        json.checkpoint = json.checkpoint.replace("\n11\n", "\n12\n");
        json.inclusion_proof.tree_size = 12;
      },
      ["checkpoint"],
    ],
    [
      "no signature on the checkpoint",
      (json) => (json.checkpoint = json.checkpoint.split("—")[0] ?? ""),
      ["checkpoint"],
    ],
  ];
  it.each(signatures)("%s", async (_what, change, failed) => {
    const changed = structuredClone(bundle);
    change(changed);
    const verdict = await verifyBundle(changed);
    expect(verdict.verdict).toBe("false");
    expect(of(verdict, "failed")).toEqual(failed);
  });

  it("in any bit of the signature makes the receipt false", async () => {
    for (let bit = 0; bit < 512; bit++) {
      const signature = envelope.signature.slice();
      signature[bit >> 3] = (signature[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const verdict = await verifyReceipt({
        envelope: { ...envelope, signature },
        publicKey: agent.publicKey,
      });
      expect(verdict.verdict).toBe("false");
      expect(of(verdict, "failed")).toEqual(["signature"]);
    }
  });

  it("in any hash of the proof, or in the checkpoint's root or signature, makes the receipt false", async () => {
    for (let i = 0; i < bundle.inclusion_proof.hashes.length; i++) {
      const changed = structuredClone(bundle);
      const hash = hashFromHex(changed.inclusion_proof.hashes[i] ?? "");
      hash[i] = (hash[i] ?? 0) ^ 1;
      changed.inclusion_proof.hashes[i] = toHex(hash);
      expect(of(await verifyBundle(changed), "failed")).toEqual(["inclusion"]);
    }
    const { text, signatures: lines } = parseNote(bundle.checkpoint);
    const root = parseCheckpoint(text).rootHash;
    const [line] = lines;
    if (!line) throw new Error("the checkpoint has a signature");
    const otherRoot = text.replace(toBase64(root), toBase64(sha256(root)));
    const sameLine = noteSignatureLine(line, line.signature);
    const withRoot = await verifyBundle({ ...bundle, checkpoint: formatNote(otherRoot, [sameLine]) });
    expect(of(withRoot, "failed")).toEqual(["checkpoint", "inclusion"]);
    for (let at = 0; at < line.signature.length; at++) {
      const signature = line.signature.with(at, (line.signature[at] ?? 0) ^ 1);
      const verdict = await verifyBundle({
        ...bundle,
        checkpoint: formatNote(text, [noteSignatureLine(line, signature)]),
      });
      expect(of(verdict, "failed")).toEqual(["checkpoint"]);
      expect(verdict.verdict).toBe("false");
    }
  });

  it("in a checkpoint is not looked for again only in the very one that was opened", async () => {
    const { text, signatures } = parseNote(bundle.checkpoint);
    const [line] = signatures;
    if (!line) throw new Error("the checkpoint has a signature");
    const invalid = noteSignatureLine(line, line.signature.with(0, (line.signature[0] ?? 0) ^ 1));
    const changed = { ...bundle, checkpoint: formatNote(text, [invalid]) };
    const verify = (note: string, key = logKey, of = changed) =>
      verifyReceipt({ bundle: of, ...trusted, openedCheckpoint: { note, log: key } });
    // Nobody opened it, so that it holds shows that its signature is not verified again.
    expect((await verify(changed.checkpoint)).verdict).toBe("true");
    expect(of(await verify(bundle.checkpoint), "failed")).toEqual(["checkpoint"]);
    expect(of(await verify(changed.checkpoint, verifierOf(otherLog, LOG_NAME)), "failed")).toEqual([
      "checkpoint",
    ]);
    const elsewhere = { ...changed, inclusion_proof: { ...bundle.inclusion_proof, log_index: 0 } };
    expect(of(await verify(changed.checkpoint, logKey, elsewhere), "failed")).toEqual(["inclusion"]);
  });

  it("the ciphertext", async () => {
    const other = toHex(sha256(utf8("other bytes")));
    const verdict = await verifyReceipt({ bundle, ...trusted, ciphertextSha256: other });
    expect(verdict.verdict).toBe("false");
    expect(of(verdict, "failed")).toEqual(["ciphertext"]);
  });

  it("the key that is trusted", async () => {
    const wrongAgent = await verifyReceipt({ bundle, ...trusted, publicKey: otherAgent.publicKey });
    expect(of(wrongAgent, "failed")).toEqual(["signature", "keyid", "public_key"]);
    const wrongLog = await verifyReceipt({ bundle, ...trusted, logKey: verifierOf(otherLog, LOG_NAME) });
    expect(of(wrongLog, "failed")).toEqual(["log_key", "checkpoint"]);
  });

  it("anywhere in the bundle's JSON never gives a true receipt", async () => {
    let refused = 0;
    for (const change of [
      ...everyValueChanged(bundle),
      ...everyMemberRemoved(bundle),
      ...everyTypeChanged(bundle),
    ]) {
      let verdict: ReceiptVerdict;
      try {
        verdict = await verifyBundle(change.value);
      } catch (error) {
        expect(error).toBeInstanceOf(ProofError);
        refused++;
        continue;
      }
      expect(verdict.verdict, `${change.path} ${change.how}`).toBe("false");
    }
    expect(refused).toBeGreaterThan(50);
  });
});

describe("attempts of a dishonest service", () => {
  it("a properly signed checkpoint of another organisation's log is refused", async () => {
    const name = `log.example.com/${ids.otherOrg}`;
    const foreign = await bundleOf({ statement, envelope, agent, log });
    const size = foreign.inclusion_proof.tree_size;
    const { rootHash } = parseCheckpoint(parseNote(foreign.checkpoint).text);
    const moved = {
      ...foreign,
      checkpoint: await signedCheckpoint(log, size, rootHash, name),
      log: { origin: name, verifier_key: formatVerifierKey(verifierOf(log, name)) },
    };
    const verdict = await verifyReceipt({
      bundle: moved,
      publicKey: agent.publicKey,
      logKey: verifierOf(log, name),
    });
    expect(of(verdict, "failed")).toEqual(["checkpoint"]);
  });

  it("a checkpoint with an extension line", async () => {
    const text = `${parseNote(bundle.checkpoint).text}more\n`;
    const extended = formatNote(text, [noteSignatureLine(logKey, await log.sign(utf8(text)))]);
    expect(of(await verifyBundle({ ...bundle, checkpoint: extended }), "failed")).toEqual(["checkpoint"]);
  });

  it("keys and a log of its own making are refused", async () => {
    const forged = await signStatement(statement, otherAgent);
    const made = await bundleOf({ statement, envelope: forged, agent: otherAgent, log: otherLog });
    const verdict = await verifyBundle(made);
    expect(verdict.verdict).toBe("false");
    expect(of(verdict, "failed")).toEqual(["signature", "keyid", "public_key", "log_key", "checkpoint"]);
  });
});

it("a bundle's envelope may be in either base64 alphabet", () => {
  const urlSafe = bundle.envelope.payload.replaceAll("+", "-").replaceAll("/", "_");
  expect(envelopeFromJson({ ...bundle.envelope, payload: urlSafe })).toEqual(envelope);
});
