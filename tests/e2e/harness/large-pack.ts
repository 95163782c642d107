/**
 * An evidence pack with as many receipts as asked for, without a service: one agent tests a source
 * each minute, backs it up each twentieth, and each run was scheduled.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import {
  agentKeyFile,
  CompactRange,
  encodeEntryBundle,
  entriesFile,
  type EnvelopeJson,
  EVIDENCE_FORMAT,
  EvidenceTally,
  formatCheckpoint,
  formatControls,
  formatLeaf,
  formatNote,
  formatPublicKeyPem,
  formatPublicKeyWire,
  formatRuns,
  formatSummary,
  formatVerifierKey,
  type Hash,
  indexPage,
  leafHash,
  type Leaf,
  type LoggedEvent,
  noteSignatureLine,
  noteVerifier,
  PACK_FILES,
  type PackPolicy,
  proveInclusion,
  publicKeyFromBytes,
  receiptFile,
  eventFile,
  runsFile,
  RUNS_IN_FILE,
  type ScheduledRun,
  sha256,
  sshFingerprint,
  type Statement,
  TILE_WIDTH,
  toHex,
  utf8,
  canonicalJson,
} from "@attestore/proof";
import {
  backupStatement,
  restoreTestStatement,
  signedEnvelope,
} from "../../../packages/orchestrator/test/log/signed-receipt.ts";
import { packStream } from "../../../packages/orchestrator/src/features/evidence/pack-stream.ts";
import type { CheckpointSigner } from "../../../packages/orchestrator/src/log/checkpoint-signer.ts";
import verifier from "../../../packages/verifier/package.json" with { type: "json" };

const id = (prefix: string, n: number): string => `${prefix}_0${String(n).padStart(25, "0")}`;
const ORG = id("org", 1);
const AGENT = id("agent", 1);
const SOURCE = id("src", 1);
const ORIGIN = `log.example.com/${ORG}`;
const MINUTE_MS = 60_000;
const BEGIN = Date.parse("2026-01-01T00:00:00.000Z");
const CONTENT = { tables: 3, sha256: "a1".repeat(32) };

interface Entry {
  leaf: Leaf;
  /** What is in its file besides the proof. */
  content: object;
  path: string;
  tally: (tally: EvidenceTally) => void;
}

export interface LargePack {
  logKey: string;
  agentPub: string;
}

/** Writes the pack to `path`. */
export async function writeLargePack(path: string, receipts: number): Promise<LargePack> {
  const [agent, log] = [newKey(), newKey()];
  const logKey = noteVerifier(ORIGIN, "ed25519", log.raw);
  const at = (minutes: number, ms = 0): string => new Date(BEGIN + minutes * MINUTE_MS + ms).toISOString();
  const exported_at = at(receipts + 1);
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

  const levels: Hash[][] = [];
  const tree = CompactRange.empty();
  for (const { leaf } of entries)
    tree.append(leafHash(formatLeaf(leaf)), (level, index, hash) => {
      (levels[level] ??= [])[index] = hash;
    });
  const size = entries.length;
  const rootHash = tree.root();
  const signText = (text: string): string =>
    formatNote(text, [noteSignatureLine(logKey, sign(null, utf8(text), log.privateKey))]);
  const checkpoint = signText(formatCheckpoint({ origin: ORIGIN, size, rootHash }));
  const header = {
    format: EVIDENCE_FORMAT,
    generator: `attestore-server ${verifier.version}`,
    org_id: ORG,
    period: { from: at(0), to: exported_at },
    exported_at,
    log: { origin: ORIGIN, tree_size: size, root_hash: toHex(rootHash) },
  } as const;

  async function* files() {
    const json = (name: string, content: object) => ({
      path: name,
      bytes: Buffer.from(`${JSON.stringify(content)}\n`),
    });
    const text = (name: string, content: string) => ({ path: name, bytes: Buffer.from(content) });
    const tally = new EvidenceTally(header, policy);
    yield json(PACK_FILES.policy, policy);
    yield json(PACK_FILES.agents, {
      v: 1,
      agents: [
        {
          id: AGENT,
          name: "host",
          hostname: "host",
          public_key: formatPublicKeyWire(publicKey),
          key_fingerprint,
          valid_from: at(0),
          valid_until: null,
          attached_event_id: entries[0]?.leaf.id,
          revoked_event_id: null,
          earlier_keys: [],
        },
      ],
    });
    yield text(agentKeyFile(AGENT), formatPublicKeyPem(publicKey));
    yield text(PACK_FILES.logKey, `${formatVerifierKey(logKey)}\n`);
    yield text(
      PACK_FILES.timeKey,
      `${formatVerifierKey(noteVerifier("time.example.com", "cosignature/v1", log.raw))}\n`,
    );
    yield text(PACK_FILES.checkpoint, checkpoint);
    yield json(PACK_FILES.range, {
      v: 1,
      from_index: 0,
      to_index: size,
      bodies_until: exported_at,
      left_edge: [],
      to_head: [],
      start: null,
      end: null,
    });
    for (let from = 0; from < size; from += TILE_WIDTH) {
      const page = entries.slice(from, from + TILE_WIDTH);
      yield {
        path: entriesFile(from, page.length),
        bytes: Buffer.from(encodeEntryBundle(page.map(({ leaf }) => formatLeaf(leaf)))),
      };
      for (const [n, entry] of page.entries()) {
        entry.tally(tally);
        const log_index = from + n;
        const hashes = proveInclusion(
          log_index,
          size,
          (level, index) => levels[level]?.[index] ?? sha256(utf8("")),
        );
        yield json(entry.path, {
          ...entry.content,
          ...("envelope" in entry.content ? { public_key: formatPublicKeyWire(publicKey) } : {}),
          leaf: entry.leaf,
          inclusion_proof: { log_index, tree_size: size, hashes: hashes.map(toHex) },
          checkpoint,
          log: { origin: ORIGIN, verifier_key: formatVerifierKey(logKey) },
        });
      }
    }
    for (let from = 0; from < runs.length; from += RUNS_IN_FILE) {
      const page = runs.slice(from, from + RUNS_IN_FILE);
      for (const run of page) tally.addRun(run);
      yield text(runsFile(from / RUNS_IN_FILE), formatRuns(page));
    }
    const summary = tally.finish();
    yield text(PACK_FILES.controls, formatControls());
    yield text(PACK_FILES.summary, formatSummary(summary));
    yield text(PACK_FILES.index, indexPage(summary, header.generator));
  }
  // Of the service's signer a pack needs only this.
  const asSigner = { signText: (_origin: string, of: string) => Promise.resolve(signText(of)) };
  await pipeline(
    packStream(files(), header, asSigner as unknown as CheckpointSigner),
    createWriteStream(path),
  );
  return { logKey: formatVerifierKey(logKey), agentPub: formatPublicKeyPem(publicKey) };
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

function newKey(): { raw: Uint8Array; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    raw: new Uint8Array(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")),
    privateKey,
  };
}
