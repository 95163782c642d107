/**
 * How many rows PostgreSQL reads for calls about records of long ago: those come from the disk, so
 * each row that nobody needs costs a page of it.
 */
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appendLeaves } from "./log/cheap-leaves.ts";
import { explaining, gatherPlans, pagesRead, rowsRead } from "./plans/explained.ts";
import { recordBackup, recordReceipt } from "./recorded.ts";
import { type Replica, startTestService, type TestAgent, type TestOrg, type TestService } from "./service.ts";

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
