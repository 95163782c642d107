import { randomBytes } from "node:crypto";
import { exchange, type Answer } from "./https.ts";
import { sha256Hex } from "./merkle.ts";
import type { WireAgent } from "./organisation.ts";

export interface UploadUrl {
  upload_id: string;
  object_key: string;
  upload_url: string;
  method: string;
  headers: Record<string, string>;
  expires_at: string;
}

export interface BackupRecord {
  id: string;
  created_at: string;
  org_id: string;
  source_id: string;
  agent_id: string;
  sha256: string;
  size_bytes: number;
  cipher: { name: string; recipients: string[] };
  source_metadata: Record<string, unknown>;
  status: string;
  proven_at: string | null;
  expires_at: string | null;
}

export const CIPHER = {
  name: "age-v1",
  recipients: ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"],
};

export const SOURCE_METADATA = {
  engine: "postgresql",
  engine_version: "15.14",
  dump_format: "pg_dump-custom",
  schema_hash: "ab".repeat(32),
};

export function heartbeatBody(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    agent_version: "0.1.0",
    hostname: "host-1.example.org",
    platform: "linux-x64",
    uptime_s: 12,
    sources: [],
    acks: [],
    ...more,
  };
}

function succeeded(answer: Answer, status: number, what: string): Answer {
  if (answer.status !== status) throw new Error(`${what}: ${answer.status} ${answer.body.toString()}`);
  return answer;
}

/** Declares a source in a heartbeat and answers the id that the organisation knows it by. */
export async function declareSource(
  agent: WireAgent,
  slug = `db-${agent.id.slice(-8)}`,
  engine = "postgresql",
  labels: { tags?: string[]; environment?: string } = {},
): Promise<string> {
  const body = heartbeatBody({ sources: [{ slug, engine, ...labels }] });
  const answer = succeeded(await agent.call("POST", "/v1/heartbeat", body), 200, "heartbeat");
  const source = answer
    .json<{ sources: { id: string; slug: string }[] }>()
    .sources.find((declared) => declared.slug === slug);
  if (!source) throw new Error(`the heartbeat does not say the id of ${slug}: ${answer.body.toString()}`);
  return source.id;
}

export async function uploadUrl(agent: WireAgent, sourceId: string, bytes: Uint8Array): Promise<UploadUrl> {
  const body = { source_id: sourceId, sha256: sha256Hex(bytes), size_bytes: bytes.length };
  return succeeded(
    await agent.call("POST", "/v1/backups/upload-url", body),
    201,
    "upload-url",
  ).json<UploadUrl>();
}

export function put(agent: WireAgent, upload: UploadUrl, bytes: Uint8Array): Promise<Answer> {
  return exchange(agent.server, {
    method: upload.method,
    path: upload.upload_url,
    headers: upload.headers,
    body: bytes,
  });
}

export function registration(upload: UploadUrl, sourceId: string): Record<string, unknown> {
  return {
    upload_id: upload.upload_id,
    source_id: sourceId,
    created_at: new Date().toISOString(),
    cipher: CIPHER,
    source_metadata: SOURCE_METADATA,
  };
}

/** A whole backup as an agent makes one: URL, upload, record, which says `more` than the usual. */
export async function writeEncryptedDump(
  agent: WireAgent,
  sourceId: string,
  bytes: Uint8Array = randomBytes(1000),
  more: Record<string, unknown> = {},
): Promise<BackupRecord> {
  const upload = await uploadUrl(agent, sourceId, bytes);
  const stored = await put(agent, upload, bytes);
  if (stored.status < 200 || stored.status > 299) {
    throw new Error(`upload: ${stored.status} ${stored.body.toString()}`);
  }
  const answer = await agent.call("POST", "/v1/backups", { ...registration(upload, sourceId), ...more });
  return succeeded(answer, 201, "register").json<BackupRecord>();
}
