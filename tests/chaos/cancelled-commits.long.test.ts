import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type BackupRecord, declareSource, writeEncryptedDump } from "../e2e/harness/backups.ts";
import { seal } from "../e2e/harness/dsse.ts";
import { type Answer, type Call, exchange } from "../e2e/harness/https.ts";
import { attach, createOrganisation, type WireAgent } from "../e2e/harness/organisation.ts";
import { type Server, startServer } from "../e2e/harness/server.ts";
import { type ReceiptAccepted, restoreTestStatement } from "../e2e/harness/statements.ts";
import { until } from "../e2e/harness/wait.ts";
import { PostgresPair } from "./soak/postgres-pair.ts";

/**
 * Commits wait for a standby that does not answer, and somebody ends the waits. PostgreSQL then
 * says that the commits are done, and shows them to everybody, although the standby lacks them.
 */
let base: string;
let pair: PostgresPair;
let server: Server;
let agent: WireAgent;
let backup: BackupRecord;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-cancelled-"));
  chmodSync(base, 0o711);
  pair = await PostgresPair.start(join(base, "postgres"));
  pair.sql("postgres", "create role service login createrole");
  pair.sql("postgres", "create database attestore owner service");
  const servers = pair.ports.map((port) => `127.0.0.1:${port}`).join(",");
  server = await startServer({
    DATABASE_URL: `postgresql://service@${servers}/attestore?target_session_attrs=read-write`,
  });
  agent = await attach(await createOrganisation(server));
  backup = await writeEncryptedDump(agent, await declareSource(agent));
});
// A test that failed leaves it stopped.
afterEach(() => signalStandby("SIGCONT"));
afterAll(async () => {
  await server?.remove();
  await pair?.close();
  rmSync(base, { recursive: true, force: true });
});

function signalStandby(signal: "SIGSTOP" | "SIGCONT"): void {
  const processes = pair?.processesOf("standby") ?? [];
  // It has none while it is cut off.
  for (const { pid } of processes) if (!Number.isNaN(pid)) process.kill(pid, signal);
}

/** As somebody does who wants the service to go on. */
const CANCEL = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'";
const TERMINATE = CANCEL.replace("cancel", "terminate");

/** Ends whatever waits for the standby, until this is answered. */
async function whileWaitsEnd<T>(asked: Promise<T>, end = CANCEL): Promise<T> {
  const answered = asked.then(() => true);
  while (!(await Promise.race([answered, delay(50, false)]))) pair.sql("attestore", end);
  return asked;
}

const statusOf = ({ status, body, headers }: Answer): unknown[] => [
  status,
  status < 400 ? null : (JSON.parse(body.toString()) as { error: string }).error,
  headers["retry-after"] !== undefined,
];
const UNAVAILABLE = [503, "unavailable", true];

const call = (method: string, path: string, more: Partial<Call> = {}): Promise<Answer> =>
  exchange(server, { method, path, token: agent.token, ...more });
const json = { "content-type": "application/json" };
const newReceipt = (): (() => Promise<Answer>) => {
  const statement = restoreTestStatement(agent, backup);
  statement.predicate["agent_version"] = randomUUID();
  const body = JSON.stringify(seal(agent.signer, statement));
  const idempotencyKey = randomUUID();
  return () => call("POST", "/v1/receipts", { headers: json, body, idempotencyKey });
};
const logSize = (): number =>
  Number(pair.sql("attestore", `select tree_size from logs where org_id = '${agent.orgId}'`));
const headSize = ({ body }: Answer): number => JSON.parse(body.toString()).tree_size as number;

test("no write is acknowledged whose commit somebody kept from the standby, and neither is its repetition until the standby has it", async () => {
  const upload = { source_id: backup.source_id, sha256: "ab".repeat(32), size_bytes: 10 };
  const event = { kind: "backup_failed", occurred_at: new Date().toISOString(), detail: {} };
  const [urlKey, eventKey] = [randomUUID(), randomUUID()];
  const writes = [
    newReceipt(),
    () => call("POST", "/v1/backups/upload-url", { json: upload, idempotencyKey: urlKey }),
    () => call("POST", "/v1/events", { json: event, idempotencyKey: eventKey }),
  ];
  const before = logSize();
  for (const end of [CANCEL, TERMINATE]) {
    signalStandby("SIGSTOP");
    for (const write of writes) expect(statusOf(await whileWaitsEnd(write(), end))).toEqual(UNAVAILABLE);
    // Everybody sees them now.
    expect(logSize()).toBe(before + 2);
    for (const write of writes) expect(statusOf(await whileWaitsEnd(write(), end))).toEqual(UNAVAILABLE);
    signalStandby("SIGCONT");
  }
  for (const write of writes) {
    const answer = await write();
    expect([answer.status, answer.headers["idempotent-replayed"]]).toEqual([201, "true"]);
  }
  expect(logSize()).toBe(before + 2);
});

test("after a failover that lost such a commit, nothing acknowledged is missing, no signed head contradicts the log, and the repetition is taken", async () => {
  const kept = (await newReceipt()()).json<ReceiptAccepted>();
  await pair.cutStandbyOff();
  const before = logSize();
  const lost = newReceipt();
  expect(statusOf(await whileWaitsEnd(lost()))).toEqual(UNAVAILABLE);
  expect(logSize()).toBe(before + 1);
  // Whoever asks for the newest head does not get one over what the standby lacks.
  expect(statusOf(await whileWaitsEnd(call("GET", "/v1/log/head")))).toEqual(UNAVAILABLE);

  await pair.loseTail();
  const answer = await until("the service has found the other server", async () => {
    const again = await lost();
    return again.status === 503 ? null : again;
  });
  expect([answer.status, answer.headers["idempotent-replayed"]], answer.body.toString()).toEqual([
    201,
    undefined,
  ]);
  expect(logSize()).toBe(before + 1);
  expect(headSize(await call("GET", "/v1/log/head"))).toBe(before + 1);
  const acknowledged = `select count(*) from receipts where id = '${kept.receipt_id}'`;
  expect(pair.sql("attestore", acknowledged).trim()).toBe("1");
  const fsck = await server.cli("fsck");
  expect(fsck.code, fsck.stdout + fsck.stderr).toBe(0);
});
