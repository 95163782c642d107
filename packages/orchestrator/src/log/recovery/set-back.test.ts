import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCheckpoint } from "@attestore/proof";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { appendInTransaction } from "../events/append-in-transaction.ts";
import { readHeadOfSize, readNewestCheckpoint } from "../heads/heads.ts";
import { logVerifier } from "../checkpoints/log-keys.ts";
import { endHold, holdLogs } from "./held-logs.ts";
import { stopSetBackLogs } from "../heads/stop-set-back-logs.ts";
import { SignedHeads } from "../checkpoints/signed-heads.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { withSession } from "../../platform/database/sql-session.ts";
import { openLogWorld, type LogWorld, type Replica, type TestAgent } from "../../../test/log/log-world.ts";
import { submitPlain } from "../../../test/log/submit.ts";

let world: LogWorld;
let directory: string;
let file: string;
let agent: TestAgent;
beforeAll(async () => {
  world = await openLogWorld();
  directory = await mkdtemp(join(tmpdir(), "signed-heads-"));
});
afterAll(async () => {
  await world.close();
  await rm(directory, { recursive: true });
});
beforeEach(async () => {
  agent = await world.addAgent(await world.addOrg());
  file = join(directory, agent.orgId);
});

async function started(): Promise<Replica & { signed: SignedHeads }> {
  const signed = await SignedHeads.open(file);
  await stopSetBackLogs(world.pool, signed.newest());
  return { ...world.addReplica({}, world.connection, signed), signed };
}

/** Grows the log by `count` while `work` runs, and then the database is as it was before. */
async function undone(work: () => Promise<void>): Promise<void> {
  const { pool } = world;
  const { rows } = await pool.query<Record<string, unknown>>("select * from logs where org_id = $1", [
    agent.orgId,
  ]);
  const before = rows[0]!;
  await work();
  const at = [agent.orgId, before["tree_size"]];
  await pool.query("delete from log_leaves where org_id = $1 and log_index >= $2", at);
  await pool.query("delete from log_heads where org_id = $1 and tree_size > $2", at);
  await pool.query("delete from events where org_id = $1 and log_index >= $2", at);
  await pool.query(
    "update logs set tree_size = $2, root_hash = $3, right_edge = $4, missing_head_size = null where org_id = $1",
    [...at, before["root_hash"], before["right_edge"]],
  );
}

const grow = async (replica: Replica, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await submitPlain(replica, agent);
};

const event = () => ({
  orgId: agent.orgId,
  kind: "agent_silent" as const,
  actorId: "service",
  occurredAt: new Date(),
  detail: {},
});
const log = (): Promise<unknown> =>
  world.database.transaction().execute((tx) => appendInTransaction(tx, [event()]));
const newest = (replica: Replica) =>
  withSession(world.pool, (session) => readNewestCheckpoint(session, replica.signer, agent.orgId));
const setBack = { code: "head_regressed" };

test("a head is in the file before its signature leaves", async () => {
  const replica = await started();
  const { treeSize, origin } = await submitPlain(replica, agent);
  expect(await readFile(file, "utf8")).toMatch(new RegExp(`^${origin} ${treeSize} [0-9a-f]{64}$`, "m"));
});

test("a checkpoint that cannot be recorded is not sent: the answer is 503, and the repeated submission gets it", async () => {
  let isFull = true;
  const replica = world.addReplica({}, world.connection, {
    newest: () => [],
    record: () => (isFull ? Promise.reject(new Error("ENOSPC")) : Promise.resolve()),
  });
  await expect(submitPlain(replica, agent)).rejects.toThrow("ENOSPC");
  isFull = false;
  expect((await newest(replica)).size).toBe(1);
});

test("after a restart nobody can append to a log that lacks a signed head, and older entries can still be proven", async () => {
  const first = await started();
  await grow(first, 3);
  const early = await newest(first);
  await world.pool.query(
    `insert into log_emissions (org_id, hour, emitted_at, tree_size, root_hash, checkpoint) values ($1, now(), now(), 3, $2, $3)`,
    [agent.orgId, early.rootHash, early.checkpoint],
  );
  await undone(() => grow(first, 2));
  await first.signed.close();
  const second = await started();
  await expect(submitPlain(second, agent)).rejects.toMatchObject(setBack);
  await expect(log()).rejects.toMatchObject(setBack);
  // A replica that knows nothing of it, on a disk of its own.
  await expect(submitPlain(world.addReplica(), agent)).rejects.toMatchObject(setBack);
  expect((await newest(second)).checkpoint).toBe(early.checkpoint);
  const head = await withSession(world.pool, (session) => readHeadOfSize(session, agent.orgId, 2));
  const signed = await second.signer.sign({ ...head!, size: 2 });
  expect((await openCheckpoint(signed, logVerifier(second.signer.identity, head!.origin))).size).toBe(2n);
  await second.signed.close();
});

test("a log that was set back and grew again is never signed, whatever its size", async () => {
  const first = await started();
  await grow(first, 2);
  await undone(() => grow(first, 3));
  // Nobody has found it yet: the running service logs an event, as may any command.
  await log();
  await expect(newest(first)).rejects.toMatchObject(setBack);
  for (let n = 0; n < 5; n += 1) await log();
  await expect(newest(first)).rejects.toMatchObject(setBack);
  await expect(submitPlain(first, agent)).rejects.toMatchObject(setBack);
  await first.signed.close();
});

test("a log that has the signed head again takes entries again", async () => {
  const first = await started();
  await grow(first, 1);
  const head = first.signer.newestOf(first.signed.newest()[0]!.origin)!;
  await stopSetBackLogs(world.pool, [{ ...head, size: 2 }]);
  await expect(submitPlain(first, agent)).rejects.toMatchObject(setBack);
  await world.pool.query(
    "update logs set missing_head_size = 1, missing_head_root = root_hash where org_id = $1",
    [agent.orgId],
  );
  expect((await stopSetBackLogs(world.pool, first.signed.newest())).setBack).not.toContain(agent.orgId);
  expect((await submitPlain(first, agent)).treeSize).toBe(2);
  await first.signed.close();
});

test("a record cut off by a crash is ignored; a damaged file is an error", async () => {
  const first = await started();
  await grow(first, 2);
  const { origin } = first.signed.newest()[0]!;
  await first.signed.close();
  await appendFile(file, `${origin} 9`);
  const second = await SignedHeads.open(file);
  expect(second.newest().map(({ size }) => size)).toEqual([2]);
  await second.close();
  await appendFile(file, `${origin} x ${"00".repeat(32)}\n`);
  await expect(SignedHeads.open(file)).rejects.toMatchObject({ code: "data_directory" });
});

test("a restored log takes nothing until a service was up for so long that agents could say which heads they hold", async () => {
  const replica = await started();
  await grow(replica, 2);
  await holdLogs(world.pool);
  const end = (after_s: number, signal: AbortSignal) =>
    endHold({ pool: world.pool, after_s, logger: silentLogger, signal });
  // A service that ends before its time; what follows is down for longer than that.
  const ended = new AbortController();
  const waiting = end(3600, ended.signal);
  ended.abort();
  await waiting;
  await expect(submitPlain(replica, agent)).rejects.toMatchObject({ code: "log_held" });
  await expect(log()).rejects.toMatchObject({ code: "log_held" });
  await end(0.001, new AbortController().signal);
  expect((await submitPlain(replica, agent)).treeSize).toBe(3);
  await replica.signed.close();
});
