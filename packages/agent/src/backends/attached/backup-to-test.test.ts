import { existsSync, readdirSync } from "node:fs";
import { newId, type DownloadedBackup, type MakersReceipt } from "@attestore/contract";
import {
  envelopeToJson,
  formatPublicKeyWire,
  formatStatement,
  PAYLOAD_TYPE,
  sha256,
  signEnvelope,
  sshFingerprint,
  toHex,
  type BackupStatement,
  type KeyRotationJson,
  type Leaf,
} from "@attestore/proof";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signedByBoth, rotationStatement } from "../../../../proof/test/rotation-fixture.ts";
import { ed25519Key, type TestKey } from "../../../../proof/test/signing-keys.ts";
import type { TestLog } from "../../../test/service/test-log.ts";
import { attachedRoot, type TestRoot } from "../../../test/service/test-root.ts";
import { failure, TestService } from "../../../test/service/test-service.ts";
import { signReceipt } from "../../receipts/sign-receipt.ts";
import { backupStatement } from "../../receipts/statements.ts";
import { listEvents, readWaitingEvent } from "../../receipts/spooled-event.ts";
import { findStoredBackup } from "./backup-to-test.ts";
import type { StoredBackup } from "../backup-backend.ts";

/**
 * What this host believes of a backup: what its maker signed, and nothing that the service says.
 */

let service: TestService;
let root: TestRoot;
let maker: TestKey;
const makerId = newId("agent");
const signal = new AbortController().signal;

beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  orders: { engine: files, path: /nowhere }\n");
  maker = await ed25519Key(7);
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

interface Served {
  id: string;
  answer: MakersReceipt;
  record: DownloadedBackup;
}

function statementOf(more: Partial<BackupStatement["predicate"]> = {}): BackupStatement {
  const at = more.finished_at ?? new Date().toISOString();
  const made = {
    v: 1,
    sha256: toHex(sha256(new TextEncoder().encode(at + JSON.stringify(more)))),
    size_bytes: 10,
    source: "orders",
    command_id: null,
    cipher: { name: "age-v1", recipients: ["age1x"] },
    source_metadata: {
      engine: "files",
      engine_version: "1",
      dump_format: "tar",
      schema_hash: "ab".repeat(32),
      content: { objects: { v: 2, total: 1 }, unrestored: { v: 2, total: 1 } },
      source: { slug: "orders" },
    },
    started_at: at,
    finished_at: at,
    upload: null,
    registered: null,
  } as const;
  const signatory = { orgId: service.orgId, agentId: makerId };
  const id = newId("backup");
  const statement = backupStatement(
    signatory,
    { ...made, cipher: { ...made.cipher, recipients: ["age1x"] } },
    service.sourceId("orders"),
    id,
    null,
  );
  return { ...statement, predicate: { ...statement.predicate, ...more } };
}

/**
 * A backup of another agent that is signed and in the log, and what an honest service says of it.
 */
async function made(
  statement = statementOf(),
  { key = maker, log = service.log }: { key?: TestKey; log?: TestLog } = {},
): Promise<Served> {
  const payload = formatStatement(statement);
  const keyid = sshFingerprint(key.publicKey);
  const envelope = await signEnvelope({ payloadType: PAYLOAD_TYPE, payload, keyid, sign: key.sign });
  const leaf: Leaf = {
    v: 1,
    kind: "backup",
    org_id: statement.predicate.org_id,
    id: newId("receipt"),
    actor_id: statement.predicate.agent_id,
    recorded_at: new Date().toISOString(),
    body_sha256: toHex(sha256(payload)),
    signature: Buffer.from(envelope.signature).toString("base64"),
  };
  const index = log.append(leaf);
  const { source_id, size_bytes, cipher, source_metadata } = statement.predicate;
  return {
    id: statement.predicate.backup_id,
    answer: {
      receipt: {
        envelope: envelopeToJson(envelope),
        public_key: formatPublicKeyWire(key.publicKey),
        leaf,
        inclusion_proof: log.inclusion(index),
        checkpoint: log.checkpoint(),
        log: { origin: log.verifier.name, verifier_key: log.verifierKey },
      },
      rotations: [],
    },
    record: {
      id: statement.predicate.backup_id,
      source_id,
      sha256: statement.subject[0].digest.sha256,
      size_bytes,
      cipher,
      source_metadata: source_metadata as DownloadedBackup["source_metadata"],
    },
  };
}

/** The service's answers from now on, whatever backup is asked for. */
function serve({ answer, record }: Pick<Served, "answer" | "record">): void {
  service.interfere = ({ route }) => {
    if (route.startsWith("GET /v1/backups/")) return json(answer);
    if (!route.endsWith("/download-url")) return undefined;
    const url = `${service.url}/objects/nothing`;
    return json({
      download_url: url,
      expires_at: new Date(Date.now() + 900_000).toISOString(),
      backup: record,
    });
  };
}
const json = (body: unknown) => ({
  status: 200,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

function find(
  backupId: string | undefined,
  trusted: { keys?: string[]; sourceId?: string | null } | null = {},
): Promise<StoredBackup> {
  const keys = trusted?.keys ?? [sshFingerprint(maker.publicKey)];
  const testFor = new Map(trusted === null ? [] : [["orders", { keys, sourceId: trusted.sourceId ?? null }]]);
  const source = root.config.sources.get("orders");
  if (source === undefined) throw new Error("no source");
  return findStoredBackup(root.attachment, { ...root.config, testFor }, source, { backupId, signal });
}

const alarms = (): string[] => readdirSync(root.layout.alarms);
async function reported(): Promise<unknown[]> {
  const events = await Promise.all((await listEvents(root.layout.eventsWaiting)).map(readWaitingEvent));
  return events.map(({ event }) => [event.kind, event.detail["reason"]]);
}

describe("a backup of another agent that config.yaml names", () => {
  it("comes from the maker's signed receipt alone", async () => {
    const backup = await made();
    serve(backup);
    expect(await find(backup.id)).toMatchObject({
      id: backup.id,
      sha256: backup.record.sha256,
      sizeBytes: 10,
      sourceMetadata: { dump_format: "tar" },
    });
    // As a service that says nothing of it.
    service.interfere = ({ route }) =>
      route.startsWith("GET /v1/backups/")
        ? json(backup.answer)
        : route.endsWith("/download-url")
          ? json({ download_url: `${service.url}/objects/x`, expires_at: new Date().toISOString() })
          : undefined;
    expect(await find(backup.id)).toMatchObject({ sha256: backup.record.sha256 });
    expect(alarms()).toEqual([]);
  });

  it("is accepted if a rotated key signed it after the rotation", async () => {
    const next = await ed25519Key(8);
    const rotatedAt = "2026-11-21T12:00:00.000Z";
    const of = rotationStatement(maker, next, rotatedAt);
    const predicate = { ...(of["predicate"] as object), org_id: service.orgId, agent_id: makerId };
    const rotation: KeyRotationJson = await signedByBoth({ ...of, predicate }, maker, next);
    const backup = await made(statementOf(), { key: next });
    serve({ ...backup, answer: { ...backup.answer, rotations: [rotation] } });
    expect(await find(backup.id)).toMatchObject({ id: backup.id });
    serve(backup);
    await expect(find(backup.id)).rejects.toMatchObject({ code: "maker_not_trusted" });
    // What the former key signs after that no longer counts as the maker's.
    const late = await made();
    serve({ ...late, answer: { ...late.answer, rotations: [rotation] } });
    await expect(find(late.id)).rejects.toMatchObject({ code: "receipt_invalid" });
  });
});

describe("of a backup of another agent nothing is downloaded", () => {
  afterEach(() => {
    expect(service.calls.filter(({ route }) => route.startsWith("GET /objects/"))).toEqual([]);
  });

  it("where config.yaml does not name its maker's key for the source", async () => {
    const backup = await made();
    serve(backup);
    await expect(find(backup.id, null)).rejects.toMatchObject({
      code: "maker_not_trusted",
      message: expect.stringContaining("test_for: orders"),
    });
    const other = sshFingerprint((await ed25519Key(9)).publicKey);
    await expect(find(backup.id, { keys: [other] })).rejects.toMatchObject({ code: "maker_not_trusted" });
    const elsewhere = { sourceId: newId("source") };
    await expect(find(backup.id, elsewhere)).rejects.toMatchObject({ code: "receipt_invalid" });
  });

  it("where the service has no receipt of its maker", async () => {
    service.interfere = ({ route }) =>
      route.startsWith("GET /v1/backups/") ? failure(404, "not_found", "no receipt") : undefined;
    await expect(find(newId("backup"))).rejects.toMatchObject({ code: "receipt_missing" });
  });

  it.each<[string, (record: DownloadedBackup) => object]>([
    ["digest", () => ({ sha256: "00".repeat(32) })],
    ["size", () => ({ size_bytes: 11 })],
    ["source", () => ({ source_id: newId("source") })],
    ["recipients", () => ({ cipher: { name: "age-v1", recipients: ["age1y"] } })],
    ["dump format", (is) => ({ source_metadata: { ...is.source_metadata, dump_format: "pg_dump-plain" } })],
    ["engine", (is) => ({ source_metadata: { ...is.source_metadata, engine: "postgresql" } })],
    ["metadata", (is) => ({ source_metadata: { ...is.source_metadata, tables: [] } })],
    // A test would compare less.
    [
      "version of its objects",
      (is) => ({ source_metadata: { ...is.source_metadata, content: { objects: { count: 1 } } } }),
    ],
    ["list of objects", (is) => ({ source_metadata: { ...is.source_metadata, content: {} } })],
  ])(
    "where the service says another %s than its maker signed, and that is an alarm",
    async (_what, change) => {
      const backup = await made();
      serve({ ...backup, record: { ...backup.record, ...change(backup.record) } });
      await expect(find(backup.id)).rejects.toMatchObject({ code: "record_mismatch" });
      expect(alarms()).toEqual([`record_mismatch-${backup.id}.json`]);
      expect(await reported()).toEqual([["attestation_failed", "record_mismatch"]]);
    },
  );

  it("where the service gives an older honest backup in place of the requested one", async () => {
    const [older, named] = [await made(), await made()];
    serve(older);
    await expect(find(named.id)).rejects.toMatchObject({
      code: "receipt_invalid",
      message: expect.stringContaining(older.id),
    });
    expect(alarms()).toEqual([`receipt_invalid-${named.id}.json`]);
    // Nor with a record that fits the name.
    serve({ answer: older.answer, record: named.record });
    await expect(find(named.id)).rejects.toMatchObject({ code: "receipt_invalid" });
  });

  it("where its maker signed that it is of another source, or another organisation", async () => {
    const another = await made(statementOf({ source_id: newId("source") }));
    serve(another);
    await expect(find(another.id)).rejects.toMatchObject({ code: "backup_unknown" });
    // Whatever the service's record says of it.
    serve({ ...another, record: { ...another.record, source_id: service.sourceId("orders") } });
    await expect(find(another.id)).rejects.toMatchObject({ code: "backup_unknown" });
    const elsewhere = await made(statementOf({ org_id: newId("org") }));
    serve(elsewhere);
    await expect(find(elsewhere.id)).rejects.toMatchObject({ code: "receipt_invalid" });
    expect(await reported()).toEqual([["attestation_failed", "receipt_invalid"]]);
  });

  it("where the receipt was changed, or is not the one in the log", async () => {
    const [first, second] = [await made(), await made()];
    const { receipt } = first.answer;
    const payload = Buffer.from(receipt.envelope.payload, "base64").toString().replace('"tar"', '"sql"');
    for (const changed of [
      { envelope: { ...receipt.envelope, payload: Buffer.from(payload).toString("base64") } },
      { envelope: second.answer.receipt.envelope },
      { leaf: second.answer.receipt.leaf },
      { inclusion_proof: { ...receipt.inclusion_proof, log_index: 1 } },
      { checkpoint: receipt.checkpoint.replace(/\n\d+\n/, "\n5\n") },
      { public_key: formatPublicKeyWire((await ed25519Key(9)).publicKey) },
    ]) {
      serve({ ...first, answer: { receipt: { ...receipt, ...changed }, rotations: [] } });
      await expect(find(first.id), JSON.stringify(Object.keys(changed))).rejects.toMatchObject({
        code: "public_key" in changed ? "maker_not_trusted" : "receipt_invalid",
      });
    }
  });

  it("where another log proves it, no matter whose key signs that log", async () => {
    const elsewhere = new (service.log.constructor as typeof TestLog)(service.log.verifier.name);
    const backup = await made(statementOf(), { log: elsewhere });
    serve(backup);
    await expect(find(backup.id)).rejects.toMatchObject({ code: "receipt_invalid" });
  });

  it("where the log that proves it forks from the one this agent has seen, which raises the log alarm", async () => {
    const honest = await made();
    await made();
    serve(honest);
    await find(honest.id);
    const head = await made();
    serve(head);
    await find(head.id);
    const backup = await made(statementOf(), { log: service.log.fork(1) });
    serve(backup);
    await expect(find(backup.id)).rejects.toMatchObject({ code: "log_alarm" });
    expect(existsSync(root.layout.logAlarm)).toBe(true);
  });
});

it("what this agent signed about its own backup counts: a service that says otherwise is refused", async () => {
  const id = newId("backup");
  const own = (previous: string | null): BackupStatement => {
    const { predicate, subject, ...rest } = statementOf();
    const { agentId } = root.attachment;
    const said = { ...predicate, backup_id: id, agent_id: agentId, previous_receipt_sha256: previous };
    return { ...rest, subject: [{ ...subject[0], name: id }], predicate: said };
  };
  await signReceipt(root.layout, own, { commandId: null });
  const backup = await made(statementOf({ started_at: "2026-01-01T00:00:00.000Z" }));
  serve({ ...backup, record: { ...backup.record, id } });
  await expect(find(id, null)).rejects.toMatchObject({ code: "record_mismatch" });
  expect(service.calls.some(({ route }) => route.endsWith("/receipt"))).toBe(false);
});

describe("which source a backup is of", () => {
  const named = (slug: string, more: object = {}) => {
    const statement = statementOf();
    const source_metadata = { ...statement.predicate.source_metadata, source: { slug } };
    return { ...statement, predicate: { ...statement.predicate, source_metadata, ...more } };
  };

  it("is the name that this agent signed, whichever id the service gives for a name", async () => {
    // The service says that the wiki's id is the one of the orders.
    const { agentId } = root.attachment;
    const own = await made(named("wiki", { agent_id: agentId }));
    await signReceipt(
      root.layout,
      () => {
        const payload = Buffer.from(own.answer.receipt.envelope.payload, "base64").toString();
        return JSON.parse(payload) as BackupStatement;
      },
      { commandId: null },
    );
    serve(own);
    await expect(find(own.id, null)).rejects.toMatchObject({ code: "source_mismatch" });
    await expect(find(undefined, null)).rejects.toMatchObject({ code: "source_mismatch" });
  });

  it("is the name that another agent signed, or else the id that config.yaml has", async () => {
    const wiki = await made(named("wiki"));
    serve(wiki);
    await expect(find(wiki.id)).rejects.toMatchObject({ code: "source_mismatch" });
    const { source: _, ...unnamed } = statementOf().predicate.source_metadata;
    const nameless = await made(
      statementOf({ source_metadata: unnamed as typeof unnamed & { engine: string } }),
    );
    serve(nameless);
    await expect(find(nameless.id)).rejects.toMatchObject({ code: "source_mismatch" });
    expect(await find(nameless.id, { sourceId: service.sourceId("orders") })).toMatchObject({
      id: nameless.id,
    });
    const orders = await made(named("orders"));
    serve(orders);
    expect(await find(orders.id)).toMatchObject({ id: orders.id });
  });
});
