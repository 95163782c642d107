import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import {
  canonicalJson,
  type EnvelopeJson,
  eventFile,
  type EvidenceTally,
  type Leaf,
  type LoggedEvent,
  type PackPolicy,
  publicKeyFromBytes,
  receiptFile,
  type ScheduledRun,
  sshFingerprint,
  type Statement,
} from "@attestore/proof";
import {
  backupStatement,
  restoreTestStatement,
  signedEnvelope,
} from "../../../packages/orchestrator/test/log/signed-receipt.ts";

const id = (prefix: string, n: number): string => `${prefix}_0${String(n).padStart(25, "0")}`;
export const ORG = id("org", 1);
export const AGENT = id("agent", 1);
const SOURCE = id("src", 1);
export const ORIGIN = `log.example.com/${ORG}`;
const MINUTE_MS = 60_000;
const BEGIN = Date.parse("2026-01-01T00:00:00.000Z");
const CONTENT = { tables: 3, sha256: "a1".repeat(32) };

/** The time so many minutes after the history's beginning. */
export const at = (minutes: number, ms = 0): string =>
  new Date(BEGIN + minutes * MINUTE_MS + ms).toISOString();

/** A leaf of the log, and its file in a pack. */
export interface Entry {
  leaf: Leaf;
  /** What is in its file besides the proof. */
  content: object;
  path: string;
  tally: (tally: EvidenceTally) => void;
}

export interface Key {
  raw: Uint8Array;
  privateKey: KeyObject;
}

export interface LargeHistory {
  policy: PackPolicy;
  entries: Entry[];
  runs: ScheduledRun[];
}

/**
 * As many receipts as asked for, and what a pack has besides them: one agent tests a source each
 * minute, backs it up each twentieth, and each run was scheduled.
 */
export function largeHistory(agent: Key, receipts: number): LargeHistory {
  const schedule = { backup_cron: null, restore_test_cron: "* * * * *", timezone: "UTC" };
  const policy: PackPolicy = {
    v: 1,
    org: { id: ORG, name: "Large" },
    sources: [
      {
        id: SOURCE,
        slug: "orders",
        name: "Orders",
        engine: "postgresql",
        agent_id: AGENT,
        test_agent_id: null,
        created_at: at(0),
        removed_at: null,
        schedule,
        retention: null,
        objectives: { rpo_s: 86_400, rto_s: 3600 },
      },
    ],
  };
  const publicKey = publicKeyFromBytes(agent.raw);
  const key_fingerprint = sshFingerprint(publicKey);
  const { schedule: _, ...rest } = { schedule, ...policy.sources[0] };
  const after = {
    agent_id: rest.agent_id,
    test_agent_id: null,
    name: rest.name,
    schedule,
    retention: null,
    objectives: rest.objectives,
  };
  const entries: Entry[] = [
    eventEntry(0, {
      kind: "agent_attached",
      occurred_at: at(0),
      detail: { agent_id: AGENT, key_fingerprint },
    }),
    eventEntry(1, {
      kind: "source_configured",
      source_id: SOURCE,
      occurred_at: at(0),
      detail: { before: { schedule: null }, after },
    }),
  ];
  const signer = {
    id: AGENT,
    orgId: ORG,
    publicKey: agent.raw,
    keyFingerprint: key_fingerprint,
    token: "",
    privateKey: agent.privateKey,
  };
  const runs: ScheduledRun[] = [];
  let previous: string | null = null;
  let backup = { id: id("bkp", 0), sourceId: SOURCE, sha256: "5f".repeat(32), sizeBytes: 64 };
  for (let n = 0; n < receipts; n += 1) {
    const minute = n + 1;
    const times = { started_at: at(minute, 1000), finished_at: at(minute, 9000) };
    const isBackup = n % 20 === 0;
    if (isBackup) backup = { ...backup, id: id("bkp", n) };
    const statement: Statement = isBackup
      ? backupStatement(signer, backup, {
          ...times,
          previous_receipt_sha256: previous,
          source_metadata: {
            engine: "postgresql",
            engine_version: "15.14",
            dump_format: "custom",
            schema_hash: "5f".repeat(32),
            content: CONTENT,
          },
        })
      : restoreTestStatement(signer, backup, {
          ...times,
          previous_receipt_sha256: previous,
          checks: [comparedCheck],
        });
    const entry = receiptEntry(n, at(minute, 10_000), statement, signedEnvelope(signer, statement));
    previous = entry.leaf.body_sha256;
    entries.push(entry);
    runs.push({
      source_id: SOURCE,
      kind: "restore_test",
      scheduled_at: at(minute),
      deadline_at: at(minute, 50_000),
      status: isBackup ? "missed" : "passed",
      receipt_id: isBackup ? null : entry.leaf.id,
      event_id: null,
    });
  }
  return { policy, entries, runs };
}

const comparedCheck = {
  id: "inferred:content",
  definition_sha256: "5f".repeat(32),
  observed: { ...CONTENT, signed_sha256: CONTENT.sha256 },
  expectation: "sha256 = signed_sha256",
  result: "passed" as const,
  duration_ms: 12,
};

function eventEntry(n: number, event: LoggedEvent): Entry {
  const leaf: Leaf = {
    v: 1,
    kind: event.kind,
    org_id: ORG,
    id: id("evt", n),
    actor_id: "service",
    recorded_at: event.occurred_at,
    body_sha256: createHash("sha256").update(canonicalJson(event)).digest("hex"),
  };
  const { id: own, recorded_at: recordedAt, actor_id: actorId } = leaf;
  return {
    leaf,
    content: { event },
    path: eventFile(own),
    tally: (tally) => tally.addEvent({ id: own, recordedAt, actorId, event }),
  };
}

function receiptEntry(n: number, recordedAt: string, statement: Statement, json: Buffer): Entry {
  const envelope = JSON.parse(json.toString()) as EnvelopeJson;
  const leaf: Leaf = {
    v: 1,
    kind: "result" in statement.predicate ? "restore_test" : "backup",
    org_id: ORG,
    id: id("rcpt", n),
    actor_id: AGENT,
    recorded_at: recordedAt,
    body_sha256: createHash("sha256").update(Buffer.from(envelope.payload, "base64")).digest("hex"),
    signature: envelope.signatures[0].sig,
  };
  return {
    leaf,
    content: { envelope },
    path: receiptFile(leaf.id),
    tally: (tally) => tally.addReceipt({ id: leaf.id, recordedAt, statement }),
  };
}

export function newKey(): Key {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    raw: new Uint8Array(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")),
    privateKey,
  };
}
