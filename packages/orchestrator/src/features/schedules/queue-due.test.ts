import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { connectDatabase } from "../../platform/database/database.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { listDue } from "./due-sources.ts";
import { ScheduleTimes } from "./due-times.ts";
import { queueBatch } from "./queue-batch.ts";
import { queueDue } from "./queue-due.ts";

const PROCESS = new URL("../../../test/queue-due-process.ts", import.meta.url);
const DUE = new Date("2026-03-02T02:30:00Z");
const NEXT_DAY = new Date("2026-03-03T02:30:00Z");
const DAILY = { backup_cron: "30 2 * * *", restore_test_cron: null, timezone: "UTC" };
const { signal } = new AbortController();

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => database.pool.query("update sources set next_backup_at = null"));

const later = (seconds: number, from = DUE): Date => new Date(from.getTime() + seconds * 1000);
const queue = (now: Date, jitter_s = 0, db = database.byClock): Promise<void> =>
  queueDue({ db, scheduleGrace_s: 7200, scheduleJitter_s: jitter_s }, { now, signal });

/** An organisation with one agent, and that many sources that are due. Returns their ids. */
async function addDue(count: number, schedule: object = DAILY, due = DUE): Promise<string[]> {
  const { pool } = database;
  const [orgId, agentId] = [newId("org"), newId("agent")];
  await pool.query("insert into orgs (id, name, slug) values ($1, $1, $1)", [orgId]);
  await pool.query(
    `insert into agents (id, org_id, name, hostname, platform, agent_version, public_key, key_fingerprint, token_sha256)
     values ($1, $2, 'host', 'host', 'linux-x64', '0.1.0', '', $1, $3)`,
    [agentId, orgId, randomBytes(32)],
  );
  const ids = Array.from({ length: count }, () => newId("source"));
  await pool.query(
    `insert into sources (id, org_id, slug, name, engine, agent_id, schedule, next_backup_at)
     select id, $1, id, id, 'postgresql', $2, $4::jsonb, $5 from unnest($3::text[]) as id`,
    [orgId, agentId, ids, JSON.stringify(schedule), due],
  );
  return ids;
}

interface Queued {
  id: string;
  commands: number;
  /** Times that were recorded, oldest first, each with the command that it waits for. */
  runs: { at: string; has_command: boolean }[];
  next_at: Date | null;
  queued_at: Date | null;
}

async function look(ids: readonly string[]): Promise<Queued[]> {
  const { rows } = await database.pool.query<Queued>(
    `select id, next_backup_at as next_at,
       (select count(*)::integer from commands where source_id = sources.id) as commands,
       (select max(created_at) from commands where source_id = sources.id) as queued_at,
       (select coalesce(json_agg(json_build_object('at', scheduled_at at time zone 'UTC',
            'has_command', exists (select from commands where commands.id = command_id and commands.source_id = sources.id)) order by scheduled_at), '[]')
          from scheduled_runs where source_id = sources.id) as runs
     from sources where id = any($1) order by id`,
    [ids],
  );
  return rows;
}

const ONCE = {
  commands: 1,
  runs: [{ at: "2026-03-02T02:30:00", has_command: true }],
  next_at: NEXT_DAY,
};
const NOT_YET = { commands: 0, runs: [], next_at: DUE };
const all = (ids: readonly string[], as: object): object[] => ids.map(() => expect.objectContaining(as));

describe("many sources that are due at once", () => {
  test("are queued once each by two replicas at the same time", async () => {
    const ids = [...(await addDue(900)), ...(await addDue(500)), ...(await addDue(1))];
    const other = connectDatabase({ connection: database.service, log: silentLogger, way: "jobs" });
    try {
      await Promise.all([queue(later(10)), queue(later(10), 0, other.database), queue(later(10))]);
    } finally {
      await other.close();
    }
    expect(await look(ids)).toEqual(all(ids, ONCE));
  });

  test("are queued in whole batches by a replica that is killed in the middle, and the rest by the next", async () => {
    const first = await addDue(450);
    const second = await addDue(450);
    const holder = await database.pool.connect();
    // The child waits in its first batch of the second organisation, whose agent somebody changes.
    await holder.query("begin");
    await holder.query(
      "select from agents where id = (select agent_id from sources where id = $1) for update",
      [second[0]],
    );
    const argument = JSON.stringify({ connection: database.service, now: later(10) });
    const child = fork(PROCESS, [argument], { execArgv: ["--no-warnings"] });
    const waiting = async (): Promise<number[]> =>
      (
        await database.pool.query<{ pid: number }>(
          "select pid from pg_stat_activity where wait_event_type = 'Lock' and query ~ '^\\s*with given as' and pid <> pg_backend_pid()",
        )
      ).rows.map(({ pid }) => pid);
    try {
      await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: 60_000 });
      const [pid] = await waiting();
      child.kill("SIGKILL");
      await once(child, "exit");
      await holder.query("rollback");
      await vi.waitFor(
        async () =>
          expect(
            (await database.pool.query("select from pg_stat_activity where pid = $1", [pid])).rows,
          ).toEqual([]),
        { timeout: 60_000 },
      );
    } finally {
      child.kill("SIGKILL");
      await holder.query("rollback");
      holder.release();
    }
    expect(await look(first)).toEqual(all(first, ONCE));
    expect(await look(second)).toEqual(all(second, NOT_YET));
    await queue(later(20));
    expect(await look([...first, ...second])).toEqual(all([...first, ...second], ONCE));
  });

  test("do not wait for a source whose row a batch of the log holds: the next run queues it", async () => {
    const ids = await addDue(50);
    const [held = "", ...others] = ids.toSorted();
    const holder = await database.pool.connect();
    try {
      await holder.query("begin");
      await holder.query("update sources set last_backup_at = now() where id = $1", [held]);
      await queue(later(10));
      expect(await look(others)).toEqual(all(others, ONCE));
      expect(await look([held])).toEqual(all([held], NOT_YET));
    } finally {
      await holder.query("commit");
      holder.release();
    }
    await queue(later(20));
    expect(await look(ids)).toEqual(all(ids, ONCE));
  });

  test("are all queued but the one that the database refuses", async () => {
    const ids = await addDue(30);
    const refused = ids[17] ?? "";
    await database.pool.query(`
      create function refuse() returns trigger language plpgsql as $$
        begin if new.source_id = '${refused}' then raise 'not this one'; end if; return new; end $$;
      create trigger refuse before insert on commands for each row execute function refuse()`);
    try {
      await expect(queue(later(10))).rejects.toThrow("not this one");
    } finally {
      await database.pool.query("drop trigger refuse on commands; drop function refuse");
    }
    const others = ids.filter((id) => id !== refused);
    expect(await look(others)).toEqual(all(others, ONCE));
    expect(await look([refused])).toEqual(all([refused], NOT_YET));
    await queue(later(20));
    expect(await look(ids)).toEqual(all(ids, ONCE));
  });

  test("are recorded with every time that passed, and one command, after a pause of the service", async () => {
    const ids = await addDue(40, { ...DAILY, backup_cron: "*/10 * * * *" }, new Date("2026-03-01T00:00:00Z"));
    await queue(new Date("2026-03-02T00:05:00Z"));
    for (const { commands, runs, next_at } of await look(ids)) {
      expect(commands).toBe(1);
      expect(runs).toHaveLength(145);
      expect(runs.filter(({ has_command }) => has_command)).toEqual([runs.at(-1)]);
      expect(next_at).toEqual(new Date("2026-03-02T00:10:00Z"));
    }
  });

  test("are listed once each, however many pages and sources that are not due there are", async () => {
    const due = [...(await addDue(70)), ...(await addDue(3)), ...(await addDue(60))];
    await addDue(90, DAILY, NEXT_DAY);
    const pages: string[][] = [];
    for await (const page of listDue(database.byClock, {
      kind: "backup",
      now: later(10),
      jitter_s: 0,
      page: 25,
    }))
      pages.push(page.map(({ id }) => id));
    expect(pages.flat().toSorted()).toEqual(due.toSorted());
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(25);
  });

  test("that were configured since they were listed are left as they were configured", async () => {
    const ids = await addDue(2);
    const [changed = "", moved = ""] = ids;
    const listed = [];
    for await (const page of listDue(database.byClock, { kind: "backup", now: later(10), jitter_s: 0 }))
      listed.push(...page);
    const times = new ScheduleTimes("backup", later(10));
    const runs = listed.map((source) => ({ source, ...times.of(source) }));
    expect(runs.map(({ source }) => source.id)).toEqual(ids.toSorted());
    await database.pool.query(`update sources set schedule = schedule || $2 where id = $1`, [
      changed,
      { timezone: "Europe/Berlin" },
    ]);
    await database.pool.query("update sources set next_backup_at = $2 where id = $1", [moved, NEXT_DAY]);
    await runInOrg(database.byClock, runs[0]!.source.org_id, (tx) =>
      queueBatch(tx, { kind: "backup", runs, now: later(10), grace_s: 7200 }),
    );
    expect(await look([changed])).toEqual(all([changed], NOT_YET));
    expect(await look([moved])).toEqual(all([moved], { ...NOT_YET, next_at: NEXT_DAY }));
  });

  test("of another organisation are not touched by a batch that names them", async () => {
    const [own = ""] = await addDue(1);
    const others = await addDue(1);
    const listed = [];
    for await (const page of listDue(database.byClock, { kind: "backup", now: later(10), jitter_s: 0 }))
      listed.push(...page);
    const times = new ScheduleTimes("backup", later(10));
    const runs = listed.map((source) => ({ source, ...times.of(source) }));
    const orgId = listed.find(({ id }) => id === own)?.org_id ?? "";
    await runInOrg(database.byClock, orgId, (tx) =>
      queueBatch(tx, { kind: "backup", runs, now: later(10), grace_s: 7200 }),
    );
    expect(await look([own])).toEqual(all([own], ONCE));
    expect(await look(others)).toEqual(all(others, NOT_YET));
  });
});

describe("the jitter", () => {
  const JITTER_S = 60;

  /** Looks every ten seconds, as the job does. Returns after how many seconds each was queued. */
  async function delays(ids: readonly string[], due: Date): Promise<number[]> {
    for (let seconds = 0; seconds <= JITTER_S; seconds += 10) await queue(later(seconds, due), JITTER_S);
    return (await look(ids)).map(({ queued_at }) => ((queued_at?.getTime() ?? 0) - due.getTime()) / 1000);
  }

  test("spreads what is due at the same time, within its bound, and is each source's own every day", async () => {
    const ids = await addDue(300);
    const first = await delays(ids, DUE);
    expect(Math.max(...first)).toBeLessThanOrEqual(JITTER_S);
    for (const slot of [10, 20, 30, 40, 50, 60])
      expect(first.filter((delay) => delay === slot).length).toBeGreaterThan(15);
    expect(await look(ids)).toEqual(all(ids, ONCE));
    await database.pool.query("update commands set ended_at = now()");
    expect(await delays(ids, NEXT_DAY)).toEqual(first);
  });

  test("takes at most a quarter of the time in which a run has to be done", async () => {
    const ids = await addDue(100);
    const deps = { db: database.byClock, scheduleGrace_s: 60, scheduleJitter_s: 60 };
    await queueDue(deps, { now: later(5), signal });
    const early = (await look(ids)).filter(({ commands }) => commands === 1).length;
    expect(early).toBeGreaterThan(10);
    expect(early).toBeLessThan(60);
    await queueDue(deps, { now: later(15), signal });
    expect(await look(ids)).toEqual(all(ids, ONCE));
  });

  test("changes no time that is recorded", async () => {
    const [id = ""] = await addDue(1, { ...DAILY, backup_cron: "30 * * * *" });
    for (let minutes = 0; minutes <= 121; minutes++) await queue(later(minutes * 60), JITTER_S);
    const [source] = await look([id]);
    expect((source?.runs ?? []).map(({ at }) => at)).toEqual(
      ["02", "03", "04"].map((hour) => `2026-03-02T${hour}:30:00`),
    );
    expect(source?.next_at?.getUTCSeconds()).toBe(0);
    expect(source?.commands).toBe(1);
  });

  test.each(["* * * * *", "0,30 * * * *", "*/15 2 * * *"])(
    "is none for %s, which may come several times an hour",
    async (cron) => {
      const ids = await addDue(20, { ...DAILY, backup_cron: cron });
      expect(await delays(ids, DUE)).toEqual(ids.map(() => 0));
    },
  );
});
