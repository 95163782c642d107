import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { declareSource, writeEncryptedDump, type BackupRecord } from "./harness/backups.ts";
import { pae, seal, IN_TOTO, type Envelope } from "./harness/dsse.ts";
import { expectError } from "./harness/errors.ts";
import { ed25519, p256 } from "./harness/keys.ts";
import { sha256Hex } from "./harness/merkle.ts";
import { attach, createOrganisation, type Organisation, type WireAgent } from "./harness/organisation.ts";
import { idOf, unknownId } from "./harness/patterns.ts";
import { expectPlaced } from "./harness/placement.ts";
import { startServer, type Server } from "./harness/server.ts";
import {
  accepted,
  backupStatement,
  check,
  restoreTestStatement,
  submit,
  type ReceiptAccepted,
} from "./harness/statements.ts";

let server: Server;
let org: Organisation;
let agent: WireAgent;
let stranger: WireAgent;
let backup: BackupRecord;

beforeAll(async () => {
  server = await startServer();
  org = await createOrganisation(server);
  agent = await attach(org);
  backup = await writeEncryptedDump(agent, await declareSource(agent));
  stranger = await attach(await createOrganisation(server));
});
afterAll(() => server.remove());

async function treeSize(): Promise<number> {
  return (await agent.call("GET", "/v1/log/head")).json<{ tree_size: number }>().tree_size;
}

describe("a receipt", () => {
  it("of a backup is accepted with a proof that needs only the log's key", async () => {
    const envelope = seal(agent.signer, backupStatement(agent, backup));
    const answer = await submit(agent, envelope);
    expect(answer.status, answer.body.toString()).toBe(201);
    const receipt = answer.json<ReceiptAccepted>();
    expect(Object.keys(receipt).toSorted()).toEqual(
      ["receipt_id", "log_index", "leaf", "leaf_hash", "log_id", "inclusion_proof", "checkpoint"].toSorted(),
    );
    expect(receipt.receipt_id).toMatch(idOf("rcpt"));
    expectPlaced(agent, receipt, receipt.receipt_id);
    const payload = Buffer.from(envelope.payload, "base64");
    expect(receipt.leaf["body_sha256"]).toBe(sha256Hex(payload));
    const { signature } = receipt.leaf;
    if (typeof signature !== "string") throw new Error("the leaf of a receipt carries no signature");
    expect(Buffer.from(signature, "base64").toString("base64")).toBe(envelope.signatures[0]?.sig);
    agent.previousReceipt = sha256Hex(payload);
  });

  it.each(["passed", "failed"] as const)("of a restore test that %s is accepted", async (result) => {
    const receipt = await accepted(agent, restoreTestStatement(agent, backup, result));
    expectPlaced(agent, receipt, receipt.receipt_id);
  });

  it("of a failed restore test needs no check, only a reason", async () => {
    const statement = restoreTestStatement(agent, backup, "failed");
    statement.predicate["checks"] = [];
    statement.predicate["reason"] = "no check is configured and the engine can infer none";
    await accepted(agent, statement);
  });

  it("grows the log by one leaf, whose head extends every head before", async () => {
    const before = await treeSize();
    const receipt = await accepted(agent, restoreTestStatement(agent, backup));
    expect(receipt.log_index).toBe(before);
    expect(await treeSize()).toBe(before + 1);
  });

  it("is accepted under a P-256 key, signed in DER", async () => {
    const hardware = await attach(org, { signer: p256() });
    const own = await writeEncryptedDump(hardware, await declareSource(hardware));
    const receipt = await accepted(hardware, backupStatement(hardware, own));
    expectPlaced(hardware, receipt, receipt.receipt_id);
  });

  it("is refused under a P-256 key if the signature is raw r||s or made by another key", async () => {
    const hardware = await attach(org, { signer: p256() });
    const own = await writeEncryptedDump(hardware, await declareSource(hardware));
    const envelope = seal(hardware.signer, backupStatement(hardware, own));
    const [signature] = envelope.signatures;
    if (!signature) throw new Error("unsigned");
    const der = Buffer.from(signature.sig, "base64");
    const raw = Buffer.concat(derIntegers(der));
    const refused = { ...envelope, signatures: [{ ...signature, sig: raw.toString("base64") }] };
    expectError(await submit(hardware, refused), "receipt_signature_invalid");
    const other = seal({ ...p256(), keyid: hardware.signer.keyid }, backupStatement(hardware, own));
    expectError(await submit(hardware, other), "receipt_signature_invalid");
    expect((await submit(hardware, envelope)).status).toBe(201);
  });

  it("may be in the URL-safe base64 alphabet", async () => {
    const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
    const urlSafe = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");
    const answer = await submit(agent, {
      ...envelope,
      payload: urlSafe(envelope.payload),
      signatures: envelope.signatures.map(({ keyid, sig }) => ({ keyid, sig: urlSafe(sig) })),
    });
    expect(answer.status, answer.body.toString()).toBe(201);
  });
});

/** The two 32-byte integers of a DER ECDSA signature. */
function derIntegers(der: Buffer): Buffer[] {
  let at = 2;
  return [0, 1].map(() => {
    const length = der[at + 1] ?? 0;
    const integer = der.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    return Buffer.concat([Buffer.alloc(32), integer]).subarray(-32);
  });
}

describe("a receipt that is sent again", () => {
  it("gets the first answer, and leaves the log unchanged", async () => {
    const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
    const first = (await submit(agent, envelope)).json<ReceiptAccepted>();
    const size = await treeSize();
    for (const key of [undefined, "01JD4QK8X5E5R8V3N6Z7M4C2QP", undefined]) {
      const answer = await submit(agent, envelope, key);
      expect([200, 201]).toContain(answer.status);
      const again = answer.json<ReceiptAccepted>();
      expect(again.receipt_id).toBe(first.receipt_id);
      expect(again.log_index).toBe(first.log_index);
      expect(again.leaf_hash).toBe(first.leaf_hash);
      expectPlaced(agent, again, first.receipt_id);
    }
    expect(await treeSize()).toBe(size);
  });

  it("is in the log once if it is sent many times at once", async () => {
    const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
    const size = await treeSize();
    const answers = await Promise.all(Array.from({ length: 24 }, () => submit(agent, envelope)));
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true);
    const receipts = answers.map((answer) => answer.json<ReceiptAccepted>());
    expect(new Set(receipts.map(({ receipt_id }) => receipt_id)).size).toBe(1);
    expect(new Set(receipts.map(({ log_index }) => log_index)).size).toBe(1);
    for (const receipt of receipts) expectPlaced(agent, receipt, receipt.receipt_id);
    expect(await treeSize()).toBe(size + 1);
  });

  it("is recognised after a crash and restart of the service", async () => {
    const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
    const first = (await submit(agent, envelope)).json<ReceiptAccepted>();
    await server.kill();
    await server.start();
    const again = (await submit(agent, envelope)).json<ReceiptAccepted>();
    expect(again.receipt_id).toBe(first.receipt_id);
    expectPlaced(agent, again, first.receipt_id);
  });
});

describe("many receipts sent at once", () => {
  it("are each in the log once, and each has a proof", async () => {
    const distinct = Array.from({ length: 60 }, (_, n) => {
      const statement = restoreTestStatement(agent, backup);
      statement.predicate["checks"] = [{ ...check(), observed: { n } }];
      return seal(agent.signer, statement);
    });
    const before = await treeSize();
    const answers = await Promise.all(distinct.map((envelope) => submit(agent, envelope)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const receipts = answers.map((answer) => answer.json<ReceiptAccepted>());
    for (const receipt of receipts) expectPlaced(agent, receipt, receipt.receipt_id);
    const indexes = receipts.map(({ log_index }) => log_index).toSorted((a, b) => a - b);
    expect(indexes).toEqual(Array.from({ length: 60 }, (_, n) => before + n));
  });
});

describe("a receipt with an invalid signature", () => {
  const good = (): Envelope => seal(agent.signer, restoreTestStatement(agent, backup));
  let size = 0;
  beforeEach(async () => {
    size = await treeSize();
  });

  const withSignature = (envelope: Envelope, change: (signature: Buffer) => Uint8Array): Envelope => ({
    ...envelope,
    signatures: envelope.signatures.map(({ keyid, sig }) => ({
      keyid,
      sig: Buffer.from(change(Buffer.from(sig, "base64"))).toString("base64"),
    })),
  });

  it.each([
    ["one bit of the signature is another", () => withSignature(good(), (sig) => flip(sig, 10))],
    ["the signature is cut short", () => withSignature(good(), (sig) => sig.subarray(0, 63))],
    ["the signature is too long", () => withSignature(good(), (sig) => Buffer.concat([sig, Buffer.of(0)]))],
    ["the signature is all zeros", () => withSignature(good(), () => Buffer.alloc(64))],
    ["another agent's key signed it", () => seal(stranger.signer, restoreTestStatement(agent, backup))],
    [
      "another key signed it in the name of the agent's",
      () => seal({ ...ed25519(), keyid: agent.signer.keyid }, restoreTestStatement(agent, backup)),
    ],
    [
      "the payload is another",
      () => ({
        ...good(),
        payload: Buffer.from(JSON.stringify(restoreTestStatement(agent, backup, "failed"))).toString(
          "base64",
        ),
      }),
    ],
    [
      "the payload was signed without its type",
      () => {
        const envelope = good();
        const bare = agent.signer.sign(Buffer.from(envelope.payload, "base64"));
        return withSignature(envelope, () => bare);
      },
    ],
    [
      "the base64 was signed in place of the bytes",
      () => {
        const envelope = good();
        const signed = agent.signer.sign(pae(IN_TOTO, Buffer.from(envelope.payload)));
        return withSignature(envelope, () => signed);
      },
    ],
  ])("is refused: %s", async (_why, envelope) => {
    expectError(await submit(agent, envelope()), "receipt_signature_invalid");
    expect(await treeSize()).toBe(size);
  });

  it("is refused when it names another key than the agent's", async () => {
    const envelope = good();
    const signatures = envelope.signatures.map(({ sig }) => ({ sig, keyid: stranger.signer.keyid }));
    const answer = await submit(agent, { ...envelope, signatures });
    // The contract gives this no code of its own; both of these fit.
    expectError(answer, "receipt_signature_invalid", "statement_mismatch");
    expect(await treeSize()).toBe(size);
  });

  it.each([
    [
      "another payload type",
      () => seal(agent.signer, restoreTestStatement(agent, backup), "application/json"),
    ],
    ["no payload type", () => ({ ...good(), payloadType: "" })],
    ["no signature", () => ({ ...good(), signatures: [] })],
    ["two signatures", () => ({ ...good(), signatures: [...good().signatures, ...good().signatures] })],
    ["a field that DSSE does not have", () => ({ ...good(), comment: "hello" })],
    ["base64 without padding", () => padded((text) => text.replace(/=+$/, ""))],
    ["base64 with white space", () => padded((text) => `${text.slice(0, 8)}\n${text.slice(8)}`)],
    [
      "base64 with bits left over",
      () =>
        padded((text) =>
          text.replace(/[AQgw]=/, (m) => `${m === "A=" ? "B" : m === "Q=" ? "R" : m === "g=" ? "h" : "x"}=`),
        ),
    ],
    ["base64 with something after its end", () => padded((text) => `${text}AAAA`)],
    ["a payload that is no base64", () => padded(() => "§§§")],
    ["an empty payload", () => seal(agent.signer, "")],
  ])("is refused for its envelope: %s", async (_why, envelope) => {
    expectError(
      await agent.call("POST", "/v1/receipts", envelope()),
      "invalid_request",
      "receipt_signature_invalid",
      "statement_invalid",
    );
    expect(await treeSize()).toBe(size);
  });

  /** An envelope whose payload's base64 ends in padding, spelt otherwise. */
  function padded(spell: (payload: string) => string): Envelope {
    const statement = restoreTestStatement(agent, backup);
    statement.predicate["agent_version"] = "0.1.0";
    for (let envelope = seal(agent.signer, statement); ; envelope = seal(agent.signer, statement)) {
      if (envelope.payload.endsWith("=")) return { ...envelope, payload: spell(envelope.payload) };
      statement.predicate["agent_version"] = `${String(statement.predicate["agent_version"])}0`;
    }
  }
});

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

describe("a receipt that contradicts the records", () => {
  it("is refused for a backup that the organisation does not have", async () => {
    const foreign = await writeEncryptedDump(stranger, await declareSource(stranger));
    for (const other of [
      { ...backup, id: unknownId("bkp") },
      { ...foreign, source_id: backup.source_id },
    ]) {
      const size = await treeSize();
      expectError(await submit(agent, seal(agent.signer, backupStatement(agent, other))), "backup_unknown");
      expectError(
        await submit(agent, seal(agent.signer, restoreTestStatement(agent, other))),
        "backup_unknown",
      );
      expect(await treeSize()).toBe(size);
    }
  });

  it.each([
    ["organisation", () => ({ org_id: stranger.orgId })],
    ["organisation that nobody knows", () => ({ org_id: unknownId("org") })],
    ["agent", () => ({ agent_id: stranger.id })],
    ["source that nobody knows", () => ({ source_id: unknownId("src") })],
  ])("is refused for another %s", async (_what, change) => {
    for (const statement of [backupStatement(agent, backup), restoreTestStatement(agent, backup)]) {
      Object.assign(statement.predicate, change());
      const size = await treeSize();
      expectError(await submit(agent, seal(agent.signer, statement)), "statement_mismatch");
      expect(await treeSize()).toBe(size);
    }
  });

  it("is refused for another source of the same organisation", async () => {
    const source_id = await declareSource(agent, "another-source");
    const statement = restoreTestStatement(agent, { ...backup, source_id });
    expectError(await submit(agent, seal(agent.signer, statement)), "statement_mismatch");
  });

  it("is refused for another digest", async () => {
    for (const make of [backupStatement, restoreTestStatement]) {
      const statement = make(agent, { ...backup, sha256: "00".repeat(32) });
      expectError(await submit(agent, seal(agent.signer, statement)), "statement_mismatch");
    }
  });

  it("is refused when its subject and its backup_id are two different backups", async () => {
    const second = await writeEncryptedDump(agent, backup.source_id, randomBytes(700));
    const statement = restoreTestStatement(agent, backup);
    statement.predicate["backup_id"] = second.id;
    expectError(
      await submit(agent, seal(agent.signer, statement)),
      "statement_mismatch",
      "statement_invalid",
    );
  });

  it("is refused if its size differs from the record", async () => {
    const statement = backupStatement(agent, { ...backup, size_bytes: backup.size_bytes + 1 });
    expectError(await submit(agent, seal(agent.signer, statement)), "statement_mismatch");
  });
});

describe("the size of a receipt", () => {
  const sized = (length: number): string => {
    const statement = restoreTestStatement(agent, backup, "failed");
    const text = (reason: string): string =>
      JSON.stringify(seal(agent.signer, { ...statement, predicate: { ...statement.predicate, reason } }));
    const growth = (text("x".repeat(3001)).length - text("x").length) / 3000;
    let body = text("x".repeat(Math.floor((length - text("").length) / growth) - 8));
    body += " ".repeat(Math.max(0, length - body.length));
    if (body.length !== length) throw new Error(`made ${body.length} bytes in place of ${length}`);
    return body;
  };
  const send = (body: string) =>
    agent.call("POST", "/v1/receipts", undefined, { body, headers: { "content-type": "application/json" } });

  it("is 256 KiB at most", async () => {
    const answer = await send(sized(256 * 1024));
    expect(answer.status, answer.body.toString().slice(0, 500)).not.toBe(413);
    expectError(await send(sized(256 * 1024 + 1)), "payload_too_large");
  });
});
