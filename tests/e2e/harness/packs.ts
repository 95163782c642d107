/**
 * Evidence packs of an organisation that has something of everything, and ways to change them: as
 * somebody who has only the file, and as the service itself, which signs what it changed.
 */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createWriteStream } from "node:fs";
import {
  EVIDENCE_FORMAT,
  type Manifest,
  manifestNoteText,
  MANIFEST_END,
  manifestBegin,
  manifestLine,
} from "@attestore/proof";
import { makeHistory, type History } from "../../../packages/orchestrator/test/history.ts";
import {
  newKeyPair,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../packages/orchestrator/test/service.ts";
import { zip } from "../../../packages/orchestrator/src/features/evidence/zip/zip-writer.ts";
import { noticeMissed } from "../../../packages/orchestrator/src/features/schedules/notice-missed.ts";
import { queueDue } from "../../../packages/orchestrator/src/features/schedules/queue-due.ts";
import { emitHour } from "../../../packages/orchestrator/src/log/checkpoints/checkpoint-publisher.ts";
import { signedRotation } from "../../../packages/orchestrator/test/log/signed-rotation.ts";
import { silentLogger } from "../../../packages/orchestrator/src/platform/logging/logger.ts";
import { openFileSource } from "../../../packages/verifier/src/zip/file-source.ts";
import { ZipReader } from "../../../packages/verifier/src/zip/zip-reader.ts";

export const MINUTE_MS = 60_000;

export interface Organisation {
  service: TestService;
  org: TestOrg;
  owner: TestUser;
  agent: TestAgent;
  /** The same, with the key that it has now. */
  rotated: TestAgent;
  history: History;
  /** Before everything. */
  from: Date;
  close(): Promise<void>;
  pack: (query?: string) => Promise<Buffer>;
}

/**
 * A source that is tested every five minutes since two hours ago, of which most were missed;
 * backups with tests that passed and one that failed; a second agent that was revoked; a signing
 * key that another one took the place of; a failure that an agent reported; a policy that was
 * changed.
 */
export async function makeOrganisation(name = "Example"): Promise<Organisation> {
  let skew_ms = 0;
  const service = await startTestService({ clock: () => new Date(Date.now() + skew_ms) });
  const org = await service.addOrg(name);
  const owner = await service.signIn(org);
  const from = new Date(Date.now() - 130 * MINUTE_MS);
  const history = await makeHistory(service, org, { backups: 2 });
  const { agent, sourceId } = history;
  const configure = async (body: object): Promise<void> => {
    const answer = await owner.post(`/api/orgs/${org.id}/sources/${sourceId}/configure`, body);
    if (answer.status !== 200) throw new Error(answer.body.toString());
  };
  skew_ms = -120 * MINUTE_MS;
  await configure({
    schedule: { restore_test_cron: "*/5 * * * *" },
    objectives: { rpo_s: 86_400, rto_s: 60 },
  });
  skew_ms = 0;
  await configure({ retention: { keep_last: 7 } });
  const deps = {
    db: service.database,
    clock: () => new Date(),
    logger: silentLogger,
    scheduleGrace_s: 600,
    scheduleJitter_s: 0,
    heartbeatInterval_s: 60,
    silentAfterIntervals: 10,
  };
  const { signal } = new AbortController();
  await queueDue(deps, { now: new Date(), signal });
  await noticeMissed(deps, { now: new Date(), signal });
  const gone = await service.attach(org);
  await agent.post("/v1/events", {
    kind: "restore_failed",
    source_id: sourceId,
    occurred_at: new Date().toISOString(),
    detail: { reason: "no space left" },
  });
  await makeHistory(service, org, { agent, backups: 1, result: "failed" });
  const withNextKey = await rotated(agent);
  await makeHistory(service, org, { agent: withNextKey, backups: 1 });
  await owner.post(`/api/orgs/${org.id}/agents/${gone.id}/revoke`);
  await noticeMissed(deps, { now: new Date(), signal });
  return {
    service,
    org,
    owner,
    agent,
    rotated: withNextKey,
    history,
    from,
    close: () => service.close(),
    pack: async (query = `from=${from.toISOString()}`) => {
      const answer = await owner.get(`/api/orgs/${org.id}/evidence?${query}`);
      if (answer.status !== 200) throw new Error(answer.body.toString());
      return answer.body;
    },
  };
}

/** The agent with its next key. */
async function rotated(agent: TestAgent): Promise<TestAgent> {
  const next = newKeyPair();
  const answer = await agent.post("/v1/agent/key", signedRotation(agent, agent, next));
  if (answer.status !== 200) throw new Error(answer.body.toString());
  return { ...agent, ...next };
}

/** Signs the log's head as the hourly job does. */
export async function emit(service: TestService, hour: Date): Promise<void> {
  const { pool, signer } = service;
  const { signal } = new AbortController();
  if (!(await emitHour({ pool, signer, logger: silentLogger, signal }, hour)))
    throw new Error("the hour was not emitted");
}

/** A pack's files by their paths, in their order. */
export type Files = Map<string, Buffer>;

export async function filesOf(path: string): Promise<Files> {
  const reader = await ZipReader.open(await openFileSource(path));
  try {
    const files: Files = new Map();
    for (const each of reader.paths()) files.set(each, Buffer.from(await reader.read(each, 2 ** 28)));
    return files;
  } finally {
    await reader.close();
  }
}

export async function writeZip(path: string, files: Files): Promise<void> {
  async function* each() {
    for (const [name, bytes] of files) yield { path: name, bytes };
  }
  await pipeline(zip(each(), new Date("2026-11-21T00:00:00Z")), createWriteStream(path));
}

/** Makes the manifest agree with the files again. `sign` is what only the service can do. */
export async function withManifest(
  files: Files,
  sign?: (origin: string, text: string) => Promise<string>,
): Promise<Files> {
  const { files: _, ...header } = JSON.parse(String(files.get("manifest.json"))) as Manifest;
  const note = files.get("manifest.note") ?? Buffer.alloc(0);
  const others = [...files].filter(([path]) => !path.startsWith("manifest."));
  const lines = others.map(([path, bytes], n) =>
    manifestLine({ path, size_bytes: bytes.length, sha256: sha256(bytes) }, n === 0),
  );
  const manifest = Buffer.from(
    manifestBegin({ ...header, format: EVIDENCE_FORMAT }) + lines.join("") + MANIFEST_END,
  );
  const text = manifestNoteText(header.log.origin, sha256(manifest));
  return new Map([
    ...others,
    ["manifest.json", manifest],
    ["manifest.note", sign === undefined ? note : Buffer.from(await sign(header.log.origin, text))],
  ]);
}

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Changes a file that is JSON. */
export function editJson<T extends object>(files: Files, path: string, change: (value: T) => void): void {
  const value = JSON.parse(String(files.get(path))) as T;
  change(value);
  files.set(path, Buffer.from(`${JSON.stringify(value)}\n`));
}

export async function save(path: string, bytes: Uint8Array): Promise<string> {
  await writeFile(path, bytes);
  return path;
}
