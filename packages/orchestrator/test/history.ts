/**
 * What an organisation has after a while: a source whose backups were registered and restored, with
 * their receipts in the log. All of it made over HTTPS, by a real agent's calls.
 *
 *   const history = await makeHistory(service, org, { backups: 3 });
 *   history.backups[0].id, history.backups[0].receipts.backup, history.backups[0].receipts.restore_test
 */
import { randomBytes } from "node:crypto";
import { parsePublicKeyWire, type RestoreTestPredicate, sshFingerprint } from "@attestore/proof";
import type { TestAgent as Signer, TestBackup } from "./log/log-world.ts";
import { backupStatement, restoreTestStatement, signedEnvelope } from "./log/signed-receipt.ts";
import { heartbeat, type TestAgent, type TestOrg, type TestService } from "./service.ts";

export interface MadeBackup {
  id: string;
  sha256: string;
  receipts: { backup: string; restore_test: string };
}

export interface History {
  agent: TestAgent;
  sourceId: string;
  /** Oldest first. */
  backups: MadeBackup[];
}

export interface HistoryOptions {
  slug?: string;
  backups?: number;
  agent?: TestAgent;
  /** What the restore tests found; passed unless told. */
  result?: "passed" | "failed";
  /** Of the restore tests that failed; "a check failed" unless told. */
  reason?: string;
  /** Of the check that they ran, what is to be another than usual. */
  check?: { id: string; expectation: string };
  /** What the backups say about their source besides the usual. */
  metadata?: Record<string, unknown>;
}

export async function makeHistory(
  service: TestService,
  org: TestOrg,
  options: HistoryOptions = {},
): Promise<History> {
  const agent = options.agent ?? (await service.attach(org));
  const slug = options.slug ?? "orders";
  const beat = await agent.post("/v1/heartbeat", heartbeat({ sources: [{ slug, engine: "postgresql" }] }));
  const sources = beat.json["sources"] as { id: string; slug: string }[];
  const sourceId = sources.find((source) => source.slug === slug)?.id ?? "";
  const backups: MadeBackup[] = [];
  for (let n = 0; n < (options.backups ?? 1); n += 1)
    backups.push(await makeBackup(service, agent, sourceId, options));
  return { agent, sourceId, backups };
}

async function makeBackup(
  service: TestService,
  agent: TestAgent,
  sourceId: string,
  { result = "passed", reason = "a check failed", check, metadata: more = {} }: HistoryOptions,
): Promise<MadeBackup> {
  const bytes = randomBytes(64);
  const upload = await service.upload(agent, sourceId, bytes);
  const registration = service.registration(upload, sourceId);
  const source_metadata = { ...(registration["source_metadata"] as object), ...more };
  const registered = await agent.post("/v1/backups", { ...registration, source_metadata });
  if (registered.status !== 201) throw new Error(`backups: ${registered.body.toString()}`);
  const made: TestBackup = {
    id: registered.json["id"] as string,
    sourceId,
    sha256: registered.json["sha256"] as string,
    sizeBytes: bytes.length,
  };
  const signer = signerOf(agent);
  const submit = async (envelope: Buffer): Promise<string> => {
    const answer = await agent.post("/v1/receipts", undefined, {
      body: envelope,
      headers: { "content-type": "application/json" },
    });
    if (answer.status !== 201) throw new Error(`receipts: ${answer.body.toString()}`);
    return answer.json["receipt_id"] as string;
  };
  const metadata = registered.json["source_metadata"] as Parameters<typeof backupStatement>[2] extends
    | { source_metadata?: infer M }
    | undefined
    ? M
    : never;
  const cipher = registration["cipher"] as { name: "age-v1"; recipients: string[] };
  const backup = await submit(
    signedEnvelope(signer, backupStatement(signer, made, { source_metadata: metadata, cipher })),
  );
  const failedCheck = {
    checks: [{ ...CHECK, ...check, result }],
    result,
    ...(result === "failed" ? { reason } : {}),
  };
  const restore_test = await submit(signedEnvelope(signer, restoreTestStatement(signer, made, failedCheck)));
  return { id: made.id, sha256: made.sha256, receipts: { backup, restore_test } };
}

/** One more restore test of a backup of a history; gives the receipt's id. */
export async function testAgain(
  { agent, sourceId }: History,
  backup: MadeBackup,
  result: "passed" | "failed",
  more: Partial<RestoreTestPredicate> = {},
): Promise<string> {
  const signer = signerOf(agent);
  const made: TestBackup = { id: backup.id, sourceId, sha256: backup.sha256, sizeBytes: 64 };
  const outcome = result === "failed" ? { result, reason: "a check failed" } : { result };
  // Each ends at another moment: the same statement twice is one receipt.
  const finished_at = new Date().toISOString();
  const checks = [{ ...CHECK, result }];
  const statement = restoreTestStatement(signer, made, { checks, finished_at, ...outcome, ...more });
  const body = signedEnvelope(signer, statement);
  const answer = await agent.post("/v1/receipts", undefined, {
    body,
    headers: { "content-type": "application/json" },
  });
  if (answer.status !== 201) throw new Error(`receipts: ${answer.body.toString()}`);
  return answer.json["receipt_id"] as string;
}

const CHECK = {
  id: "has-orders",
  definition_sha256: "5f".repeat(32),
  observed: { n: 1234 },
  expectation: "n >= 1000",
  duration_ms: 12,
};

function signerOf(agent: TestAgent): Signer {
  const publicKey = parsePublicKeyWire(agent.publicKeyWire);
  return {
    id: agent.id,
    orgId: agent.orgId,
    publicKey: publicKey.bytes,
    keyFingerprint: sshFingerprint(publicKey),
    token: agent.token,
    privateKey: agent.privateKey,
  };
}
