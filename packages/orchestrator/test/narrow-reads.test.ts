/**
 * How many rows PostgreSQL reads for calls about records of long ago: those come from the disk, so
 * each row that nobody needs costs a page of it.
 */
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress } from "./client.ts";
import { appendLeaves } from "./log/cheap-leaves.ts";
import { explaining, gatherPlans, pagesRead, rowsRead } from "./plans/explained.ts";
import { recordBackup, recordReceipt } from "./recorded.ts";
import {
  type Replica,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "./service.ts";

const DAY_MS = 86_400_000;

let service: TestService;
let replica: Replica;
let org: TestOrg;
let agent: TestAgent;
const { told, stop } = gatherPlans();
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
  // Of so few rows PostgreSQL would rather read all.
  replica = await service.listen(explaining(service.connection, { enable_seqscan: "off" }));
});
afterAll(async () => {
  stop();
  await replica.close();
  await service.close();
});

/** Calls as somebody, and tells how many rows of each of these tables PostgreSQL read for it. */
async function readBy(path: string, token: string, tables: readonly string[]) {
  told.length = 0;
  const answer = await replica.call({ method: "GET", path, token });
  expect(answer.status, answer.body.toString()).toBe(200);
  const rows = tables.map((table) => {
    const read = told.flatMap((plan) => rowsRead(plan, new Set([table])));
    return [table, read.reduce((sum, step) => sum + step.rows, 0)] as const;
  });
  return { answer, rows: Object.fromEntries(rows) };
}

test("a page of a timeline reads each kind of record only as far back as the page goes", async () => {
  const declared = { slug: "orders", engine: "sqlite", agent_id: agent.id };
  const owner = await service.signIn(org);
  const made = await owner.post(`/api/orgs/${org.id}/sources`, declared);
  const of = { orgId: org.id, sourceId: made.json["id"] as string, agentId: agent.id };
  for (let n = 1; n <= 40; n += 1) {
    const at = (second: number): Date => new Date(Date.now() - n * DAY_MS + second * 1000);
    await service.pool.query(
      `insert into commands (id, org_id, source_id, agent_id, kind, status, issued_by)
       values ($1, $2, $3, $4, 'backup', 'acked', 'schedule')`,
      [newId("command", at(0).getTime()), of.orgId, of.sourceId, of.agentId],
    );
    const backupId = await recordBackup(service.database, { ...of, at: at(1) });
    const receipt = { ...of, backupId, kind: "backup" } as const;
    await recordReceipt(service.database, { ...receipt, at: at(2) });
    await recordReceipt(service.database, { ...receipt, kind: "restore_test", at: at(3) });
  }
  await service.pool.query("vacuum analyze");
  const path = `/api/orgs/${org.id}/sources/${of.sourceId}/timeline?limit=20`;
  const tables = ["receipts", "backups", "commands"];
  const { answer, rows } = await readBy(path, owner.token, tables);
  // One more than the page has: receipts of ten days and a half. With backups, seven days are
  // enough.
  expect(rows).toEqual({ receipts: 21, backups: 10, commands: 6 });
  const whole = await owner.get(path.replace("limit=20", "limit=200"));
  expect(answer.json["items"]).toEqual((whole.json["items"] as unknown[]).slice(0, 20));
});

test("a source's detail reads its kept backups from an index, which has many of them in a page", async () => {
  const declared = { slug: "kept", engine: "sqlite", agent_id: agent.id };
  const owner = await service.signIn(org);
  const made = await owner.post(`/api/orgs/${org.id}/sources`, declared);
  const of = { orgId: org.id, sourceId: made.json["id"] as string, agentId: agent.id };
  const at = new Date(Date.now() - 40 * DAY_MS);
  for (let n = 0; n < 150; n += 1) await recordBackup(service.database, { ...of, at, provenAt: at });
  await service.pool.query("vacuum analyze");
  const { answer } = await readBy(`/api/orgs/${org.id}/sources/${of.sourceId}`, owner.token, []);
  expect(answer.json["coverage"]).toEqual({ older_than_30_days: 150, tested_within_90_days: 150 });
  const pages = told.filter(({ "Query Text": text }) => /\bproven_at\b/.test(text)).map(pagesRead);
  // From the table they were 143.
  expect(pages).toEqual([expect.toSatisfy((count: number) => count > 0 && count < 10)]);
});

describe("a list of sources", () => {
  let of: { orgId: string; sourceId: string; agentId: string };
  let reader: TestUser;
  beforeEach(async () => {
    const its = await service.addOrg();
    const { id: agentId } = await service.attach(its);
    reader = await service.signIn(its);
    const declared = { slug: "orders", engine: "sqlite", agent_id: agentId };
    const made = await reader.post(`/api/orgs/${its.id}/sources`, declared);
    of = { orgId: its.id, sourceId: made.json["id"] as string, agentId };
    await service.pool.query(
      "update sources set created_at = now() - interval '1 year', last_proven_at = now() - interval '40 days' where id = $1",
      [of.sourceId],
    );
  });

  const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);

  /** A backup of then, tested as often. */
  async function backUp(days: number, results: readonly ("passed" | "failed")[] = ["passed"]) {
    const backupId = await recordBackup(service.database, { ...of, at: ago(days) });
    for (const result of results)
      await recordReceipt(service.database, { ...of, backupId, kind: "restore_test", result, at: ago(days) });
    return backupId;
  }

  async function readSource(token = reader.token) {
    await service.pool.query("vacuum analyze");
    const { answer, rows } = await readBy(`/api/orgs/${of.orgId}/sources`, token, ["receipts", "backups"]);
    const [source] = answer.json["items"] as Record<string, unknown>[];
    return { rows, source, because: source?.["not_proven_because"] };
  }

  test("reads a few restore tests of each, however many there are of the last days", async () => {
    for (let n = 50; n >= 1; n -= 1) await backUp(n / 20, ["passed", "passed", "passed"]);
    // That of the newest backup that passed, and the one that came last.
    expect(await readSource()).toMatchObject({ because: null, rows: { receipts: 2 } });
  });

  test("finds a passed test of the last days of a backup that many newer ones follow", async () => {
    const backupId = await backUp(12, []);
    for (let n = 40; n >= 1; n -= 1) await backUp(9 + n / 20);
    expect((await readSource()).because).toBe("proof_too_old");
    await recordReceipt(service.database, {
      ...of,
      backupId,
      kind: "restore_test",
      result: "passed",
      at: ago(1),
    });
    const { because, rows } = await readSource();
    expect(because).toBe("newest_not_proven");
    // Those of the three newest backups, the one of the last days, and the one that came last.
    expect(rows["receipts"]).toBe(5);
  });

  test("reads for an old period nothing of what came since, and little of the period", async () => {
    for (let n = 40; n >= 1; n -= 1) await backUp(30 + n / 4);
    for (let n = 60; n >= 1; n -= 1) await backUp(n / 4, n % 4 === 0 ? ["passed", "failed"] : ["passed"]);
    const period = { from: ago(60).toISOString(), to: ago(30).toISOString() };
    const link = await reader.post(`/api/orgs/${of.orgId}/auditor-links`, { name: "SOC 2", ...period });
    const secret = new URL(link.json["url"] as string).hash.slice(1);
    const opened = await service.call({
      method: "POST",
      path: "/api/auditor-links/open",
      json: { secret },
      from: ownAddress(),
    });
    const { because, rows, source } = await readSource(opened.json["session_token"] as string);
    expect(because).toBe(null);
    for (const time of ["last_backup_at", "last_proven_at"])
      expect((Date.now() - Date.parse(source?.[time] as string)) / DAY_MS).toBeCloseTo(30.25, 1);
    // Of both also what the times of the period are read from: its last record, and those since.
    expect(rows).toEqual({ receipts: 4, backups: 4 });
  });
});

test("a source's backups of a period are read without the others", async () => {
  const its = await service.addOrg();
  const { id: agentId } = await service.attach(its);
  const owner = await service.signIn(its);
  const declared = { slug: "orders", engine: "sqlite", agent_id: agentId };
  const made = await owner.post(`/api/orgs/${its.id}/sources`, declared);
  const sourceId = made.json["id"] as string;
  for (let n = 60; n >= 1; n -= 1) {
    const at = new Date(Date.now() - n * DAY_MS);
    await recordBackup(service.database, { orgId: its.id, sourceId, agentId, at, provenAt: at });
  }
  await service.pool.query("vacuum analyze");
  const to = new Date(Date.now() - 30.5 * DAY_MS);
  const from = new Date(to.getTime() - 5 * DAY_MS);
  const path = `/api/orgs/${its.id}/backups?source_id=${sourceId}&agent_id=${agentId}&from=${from.toISOString()}&to=${to.toISOString()}`;
  const { answer, rows } = await readBy(path, owner.token, ["backups"]);
  expect(answer.json["items"]).toHaveLength(5);
  // Nothing stands out in a backup, so none is looked for in which nothing does.
  expect(rows).toEqual({ backups: 5 });
});

test("a proof in the newest head reads nothing of the unfinished tile", async () => {
  const other = await service.attach(await service.addOrg());
  await appendLeaves(service.pool, other.orgId, 600);
  await service.pool.query("vacuum analyze");
  const { json } = await other.get("/v1/log/head");
  const path = `/v1/log/proof?leaf=3&tree_size=${String(json["tree_size"])}`;
  const { rows } = await readBy(path, other.token, ["log_leaves", "log_tiles"]);
  // Its own tile, and the root of the one beside it; an unfinished one has 88 hashes or more.
  expect(rows).toEqual({ log_leaves: 0, log_tiles: 2 });
});

test("a full tile is read as it is stored, not from the rows of its leaves", async () => {
  await appendLeaves(service.pool, org.id, 600);
  await service.pool.query("vacuum analyze");
  const tile = (path: string) => readBy(`/log/${org.id}/${path}`, agent.token, ["log_leaves", "log_tiles"]);
  const full = await tile("tile/0/001");
  expect(full.answer.body).toHaveLength(8192);
  expect(full.rows).toEqual({ log_leaves: 0, log_tiles: 1 });
  const { rows } = await service.pool.query<{ leaf_hash: Buffer }>(
    "select leaf_hash from log_leaves where org_id = $1 and log_index between 256 and 511 order by log_index",
    [org.id],
  );
  expect(full.answer.body.equals(Buffer.concat(rows.map(({ leaf_hash }) => leaf_hash)))).toBe(true);
  expect((await tile("tile/0/002.p/50")).rows).toEqual({ log_leaves: 50, log_tiles: 0 });
  expect((await tile("tile/1/000.p/2")).rows).toEqual({ log_leaves: 0, log_tiles: 2 });
});
