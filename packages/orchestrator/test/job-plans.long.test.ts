/**
 * How PostgreSQL answers what the service asks by the clock when its tables are long and little is
 * to be done: no statement reads a table that grows with time through, or more of its rows than a
 * page has.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { examineClock } from "../src/cli/doctor/examine-database.ts";
import { readServiceState } from "../src/features/metrics/read-state.ts";
import { emitHour } from "../src/log/checkpoints/checkpoint-publisher.ts";
import { connectDatabase, type DatabaseAccess } from "../src/platform/database/database.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { allJobs } from "./all-jobs.ts";
import {
  complaintsAbout,
  explaining,
  gatherPlans,
  readsAcrossOrgs,
  spreadWithOthers,
} from "./plans/explained.ts";
import { addHistory } from "./plans/long-history.ts";
import { multiply } from "./plans/many-rows.ts";
import { startTestService, type TestService } from "./service.ts";
import { makeWorld } from "./tenancy/world.ts";

/** Of each kind: enough that the plans are those of a million. */
const MANY = 6000;
const now = new Date();
const { signal } = new AbortController();

let service: TestService;
let asked: DatabaseAccess;
let owner: DatabaseAccess;
let large: Set<string>;
const mixed = new Set<string>();
const across = new Set<string>();
const { told, stop } = gatherPlans();
beforeAll(async () => {
  service = await startTestService();
  const world = await makeWorld(service);
  await multiply(service, world, MANY);
  large = await addHistory(service, world, MANY);
  const connection = explaining(service.connection);
  asked = connectDatabase({ connection, log: silentLogger, way: "jobs" });
  owner = connectDatabase({ connection, log: silentLogger });
});
afterAll(async () => {
  stop();
  await asked.close();
  await owner.close();
  await service.close();
});

async function complaintsOf(run: () => Promise<unknown>): Promise<string[]> {
  told.length = 0;
  await run();
  for (const tables of told.map(spreadWithOthers)) if (tables !== null) mixed.add(tables);
  for (const text of told.map(readsAcrossOrgs)) if (text !== null) across.add(text);
  return [...new Set(told.flatMap((one) => complaintsAbout(one, large)))];
}

const isOfEach = (complaint: string): boolean =>
  !/^(?:Seq|Index|Index Only|Bitmap Heap) Scan (?!agents|orgs|logs|sources|org_usage)/.test(complaint);

test("the test sees the plans, and the tables that grow with time are long", async () => {
  await complaintsOf(() => asked.database.selectFrom("jobs").select("name").execute());
  expect(told.some(({ "Query Text": text }) => text.includes("jobs"))).toBe(true);
  for (const name of ["api_logs", "uploads", "log_heads", "scheduled_runs", "incidents"])
    expect([...large]).toContain(name);
});

/**
 * What reads each agent or organisation, which do not grow with time. An index on what every
 * heartbeat changes would cost more.
 */
const OF_EACH = new Set(["notice_silence", "tell_quotas", "expire_backups", "archive_receipts"]);

test("a job that has little to do reads little", async () => {
  const context = { now, signal, runningSince: new Date(now.getTime() - 86_400_000) };
  const complaints: Record<string, string[]> = {};
  for (const { name, run } of allJobs(service, asked.database, { now, signal, quota: 1e12 }))
    complaints[name] = await complaintsOf(() => run(context));
  for (const [name, found] of Object.entries(complaints))
    expect([name, found.filter((complaint) => !OF_EACH.has(name) || !isOfEach(complaint))]).toEqual([
      name,
      [],
    ]);
});

test("the newest time of the log is found without reading all heads", async () => {
  const found = await complaintsOf(() => examineClock(owner.pool));
  expect(found.filter((complaint) => !isOfEach(complaint))).toEqual([]);
});

test("the hourly heads are signed without reading those of other hours", async () => {
  const hour = new Date(now.getTime() - (now.getTime() % 3_600_000));
  const publisher = { pool: owner.pool, signer: service.signer, logger: silentLogger, signal };
  const found = await complaintsOf(() => emitHour(publisher, hour));
  expect(found.filter((complaint) => !isOfEach(complaint))).toEqual([]);
});

test("metrics count what is unfinished, and read nothing that is", async () => {
  const found = await complaintsOf(() => readServiceState(owner.database, [], now));
  // Of each source its newest backup.
  const read = (complaint: string): number =>
    Number(/^Index Scan backups \w+: (\d+) rows/.exec(complaint)?.[1] ?? Number.NaN);
  expect(found.filter((complaint) => !isOfEach(complaint) && !(read(complaint) <= 2 * MANY))).toEqual([]);
});

test("no statement by the clock joins a table that may be spread over machines with one that is not", () => {
  expect([...mixed]).toEqual([]);
});

test("a statement by the clock about all organisations reads rows of one at a time", () => {
  expect([...across]).toEqual([]);
});
