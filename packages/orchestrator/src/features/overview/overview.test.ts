import { newId, type Overview } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readServiceState } from "../metrics/read-state.ts";
import { type History, makeHistory } from "../../../test/history.ts";
import { recordBackup, recordReceipt } from "../../../test/recorded.ts";
import {
  heartbeat,
  startTestService,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const read = async (user: TestUser, org: TestOrg, query = ""): Promise<Overview> => {
  const answer = await user.get(`/api/orgs/${org.id}/overview${query}`);
  expect(answer.status, answer.body.toString()).toBe(200);
  return answer.json as unknown as Overview;
};

async function event(agent: { post: TestUser["post"] }, body: Record<string, unknown>): Promise<void> {
  const answer = await agent.post("/v1/events", {
    occurred_at: new Date().toISOString(),
    detail: {},
    ...body,
  });
  expect(answer.status, answer.body.toString()).toBe(201);
}

describe("an organisation that has just begun", () => {
  test("is told to attach an agent, then to declare a source", async () => {
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const empty = await read(owner, org);
    expect(empty).toMatchObject({
      sources: [],
      agents: [],
      incidents: [],
      next_steps: [{ kind: "attach_agent" }],
    });
    expect(empty.log).toMatchObject({ tree_size: 0, head_signed_at: null, is_late: false });
    const agent = await service.attach(org);
    const attached = await read(owner, org);
    expect(attached.agents).toEqual([
      {
        id: agent.id,
        name: "host-1",
        hostname: "host-1.example.org",
        last_seen_at: null,
        is_silent: false,
        is_running: false,
        has_recovery_kit: null,
        spool: null,
      },
    ]);
    expect(attached.next_steps).toEqual([{ kind: "declare_source" }]);
  });

  test("is told to start an agent that has a source and is not heard from", async () => {
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const agent = await service.attach(org);
    await agent.post("/v1/heartbeat", heartbeat({ sources: [{ slug: "orders", engine: "sqlite" }] }));
    const heard = await read(owner, org);
    expect(heard.agents).toMatchObject([{ is_running: true }]);
    expect(heard.next_steps[0]?.kind).toBe("make_backup");
    // Three heartbeats' time, and a second.
    await service.pool.query(
      "update agents set last_seen_at = last_seen_at - interval '181 seconds' where id = $1",
      [agent.id],
    );
    const stopped = await read(owner, org);
    expect(stopped.agents).toMatchObject([{ is_running: false, is_silent: false }]);
    expect(stopped.next_steps[0]).toEqual({ kind: "run_agent", agent_id: agent.id });
  });
});

describe("sources with a history", () => {
  let org: TestOrg;
  let owner: TestUser;
  let overview: Overview;
  beforeAll(async () => {
    org = await service.addOrg();
    owner = await service.signIn(org);
    const good = await makeHistory(service, org, { slug: "good", backups: 2 });
    const { agent } = good;
    await makeHistory(service, org, { slug: "bad", agent, result: "failed" });
    const broken = await makeHistory(service, org, { slug: "broken", agent });
    await event(agent, { kind: "backup_failed", source_id: broken.sourceId });
    const spool = { backups: 1, receipts: 2, events: 0 };
    const sources = ["good", "bad", "broken", "new"].map((slug) => ({ slug, engine: "postgresql" }));
    const encryption = {
      recipients: ["age1recipient"],
      recovery_kit: { recipient: "age1kit", made_at: new Date().toISOString(), tested_at: null },
    };
    await agent.post("/v1/heartbeat", heartbeat({ sources, spool, encryption }));
    await (
      await service.attach(org)
    ).post("/v1/heartbeat", heartbeat({ encryption: { ...encryption, recovery_kit: null } }));
    overview = await read(owner, org);
  });
  const source = (slug: string) => {
    const found = overview.sources.find((one) => one.slug === slug);
    if (found === undefined) throw new Error(`no source ${slug}`);
    return found;
  };

  test("are listed worst first", () => {
    expect(overview.sources.map(({ slug, state }) => [slug, state])).toEqual([
      ["bad", "failed"],
      ["broken", "failed"],
      ["new", "none"],
      ["good", "proven"],
    ]);
  });

  test("have a day strip that ends today, and trends", () => {
    expect(overview.first_day).toBe(
      new Date(Date.parse(overview.now) - 29 * 86_400_000).toISOString().slice(0, 10),
    );
    for (const [slug, today] of [
      ["good", "p"],
      ["bad", "f"],
      ["broken", "f"],
      ["new", "-"],
    ] as const)
      expect(source(slug).days, slug).toMatch(new RegExp(`^[-p]{29}${today}$`));
    expect(source("good").sizes).toEqual([64]);
    expect(source("new")).toMatchObject({ sizes: [], restore_times_ms: [], concerns: ["never_backed_up"] });
    expect(source("bad").concerns).toEqual(["restore_test_failed", "never_proven"]);
    expect(source("broken")).toMatchObject({ concerns: ["backup_failed"], failed_at: expect.any(String) });
  });

  test("have a strip of ninety days on request, and of no other length", async () => {
    const long = await read(owner, org, "?days=90");
    expect(long.sources.map(({ days }) => days.length)).toEqual([90, 90, 90, 90]);
    expect(long.first_day < overview.first_day).toBe(true);
    expect((await owner.get(`/api/orgs/${org.id}/overview?days=31`)).status).toBe(400);
  });

  test("show what their agent still has to submit", () => {
    expect(overview.agents).toMatchObject([
      { is_silent: false, spool: { backups: 1, receipts: 2, events: 0 }, has_recovery_kit: true },
      { spool: null, has_recovery_kit: false },
    ]);
  });

  test("come with the most useful next step", () => {
    const of = (kind: string) => overview.next_steps.find((step) => step.kind === kind)?.source_id;
    expect(overview.next_steps.map(({ kind }) => kind)).toEqual([
      "look_into_failure",
      "make_backup",
      "test_restore",
      "set_schedule",
      "set_objectives",
      "make_recovery_kit",
      "test_recovery_kit",
    ]);
    expect(of("look_into_failure")).toBe(source("bad").id);
    expect(of("make_backup")).toBe(source("new").id);
    expect(of("test_restore")).toBe(source("bad").id);
  });

  test("the days of receipts are those that the receipts themselves give", async () => {
    const { rows } = await service.pool.query<Record<string, unknown>>(
      `select coalesce(days.source_id, receipts.source_id) as id, days.backups, days.passed, days.failed, receipts.*
       from source_days as days full join (
         select source_id, count(*) filter (where kind = 'backup') as made, count(*) filter (where result = 'passed') as held,
           count(*) filter (where result = 'failed') as broke from receipts group by source_id
       ) as receipts using (source_id) where days.org_id = $1`,
      [org.id],
    );
    expect(rows.length).toBe(3);
    for (const { backups, passed, failed, made, held, broke } of rows)
      expect([backups, passed, failed]).toEqual([made, held, broke]);
  });

  test("everybody in the organisation sees it, and nobody else", async () => {
    expect((await read(await service.signIn(org, "auditor"), org)).sources.length).toBe(4);
    const stranger = await service.signIn(await service.addOrg());
    expect((await stranger.get(`/api/orgs/${org.id}/overview`)).status).toBe(404);
    const operator = await service.signIn(null);
    expect((await operator.get(`/api/orgs/${org.id}/overview`)).status).toBe(403);
  });
});

test("a missed run counts on its day, drift is shown, and objectives are compared", async () => {
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const { sourceId, agent } = await makeHistory(service, org, { backups: 2 });
  const yesterday = new Date(Date.now() - 86_400_000);
  await service.pool.query(
    `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, status, decided_at)
     values ($1, 'backup', $2, $3, $2, 'missed', $2)`,
    [sourceId, yesterday, org.id],
  );
  await service.pool.query(
    `insert into incidents (id, org_id, kind, agent_id, began_at) select 'evt_' || substr(id, 7), org_id, 'agent_silent', id, now()
     from agents where id = $1`,
    [agent.id],
  );
  await service.pool.query(
    `insert into source_days (org_id, source_id, day, backups, schema_digest, environment_digest)
     values ($1, $2, $3, 1, 'another', 'another')`,
    [org.id, sourceId, yesterday.toISOString().slice(0, 10)],
  );
  const configured = await owner.post(`/api/orgs/${org.id}/sources/${sourceId}/configure`, {
    objectives: { rpo_s: 1, rto_s: 3600 },
  });
  expect(configured.status).toBe(200);
  await service.pool.query("update sources set last_backup_at = now() - interval '1 hour' where id = $1", [
    sourceId,
  ]);
  const [shown] = (await read(owner, org)).sources;
  expect(shown).toMatchObject({
    state: "missed",
    concerns: ["rpo_exceeded", "agent_silent", "schema_drift", "environment_drift"],
    rpo_met: false,
  });
  expect(shown?.days.slice(-2)).toBe("mp");
});

test.each([
  ["a lost trigger", "objects_digest", (digit: string) => ({ sha256: digit.repeat(64) })],
  [
    "a trigger with another definition",
    "definitions_digest",
    (digit: string) => ({ definitions: { key: "0".repeat(16), kinds: { trigger: digit.repeat(16) } } }),
  ],
])(
  "%s is drift, of one day and of several, and an agent that tells more is none",
  async (_what, column, of) => {
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const others = (digit: string) => ({
      metadata: { other_objects: { sha256: "0".repeat(64), kinds: { trigger: 1 }, named: [], ...of(digit) } },
    });
    const { sourceId, agent } = await makeHistory(service, org);
    const concerns = async (): Promise<readonly string[]> =>
      (await read(owner, org)).sources[0]?.concerns.filter((each) => each === "schema_drift") ?? [];
    await makeHistory(service, org, { agent, ...others("1") });
    await makeHistory(service, org, { agent, ...others("1") });
    expect(await concerns()).toEqual([]);
    await service.pool.query(
      `insert into source_days (org_id, source_id, day, backups, schema_digest, ${column})
     select org_id, source_id, day - 1, 1, schema_digest, 'another' from source_days where source_id = $1`,
      [sourceId],
    );
    expect(await concerns()).toEqual(["schema_drift"]);
    await service.pool.query(`delete from source_days where ${column} = 'another'`);
    expect(await concerns()).toEqual([]);
    await makeHistory(service, org, { agent, ...others("2") });
    expect(await concerns()).toEqual(["schema_drift"]);
  },
);

describe("a source is not proven", () => {
  const HOUR = 3_600_000;
  const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR);

  async function madeBackup(org: TestOrg, { sourceId, agent }: History, hours: number): Promise<string> {
    const backup = { orgId: org.id, sourceId, agentId: agent.id, at: ago(hours) };
    await service.pool.query("update sources set last_backup_at = $2 where id = $1", [sourceId, ago(hours)]);
    return recordBackup(service.database, backup);
  }

  async function tested(
    org: TestOrg,
    { sourceId, agent }: History,
    backupId: string,
    result: "passed" | "failed",
    hours: number,
  ): Promise<void> {
    const test = { orgId: org.id, sourceId, agentId: agent.id, backupId, result, at: ago(hours) };
    await recordReceipt(service.database, { ...test, kind: "restore_test" });
    if (result === "passed")
      await service.pool.query(
        "update sources set last_proven_at = greatest(last_proven_at, $2) where id = $1",
        [sourceId, ago(hours)],
      );
  }

  async function emptied(org: TestOrg): Promise<History> {
    const history = await makeHistory(service, org);
    for (const table of ["receipts", "backups"])
      await service.pool.query(`delete from ${table} where source_id = $1`, [history.sourceId]);
    await service.pool.query(
      "update sources set last_proven_at = null, last_backup_at = null where id = $1",
      [history.sourceId],
    );
    return history;
  }

  /** What home, the list, the source's page and the metrics' query say. */
  async function said(org: TestOrg, owner: TestUser, { sourceId }: History) {
    const [home] = (await read(owner, org)).sources;
    const list = (await owner.get(`/api/orgs/${org.id}/sources`)).json["items"] as { id: string }[];
    const detail = (await owner.get(`/api/orgs/${org.id}/sources/${sourceId}`)).json;
    const { sources } = await readServiceState(service.byClock, [], new Date());
    const measured = sources.find(({ source_id }) => source_id === sourceId)?.is_proven;
    const because = home?.not_proven_because;
    for (const record of [home, list.find(({ id }) => id === sourceId), detail])
      expect(record).toMatchObject({ proven: because === null, not_proven_because: because });
    expect(measured).toBe(because === null);
    return { state: home?.state, because };
  }

  test("by a pass of an old backup after the newest one's failure", async () => {
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const history = await emptied(org);
    const old = await madeBackup(org, history, 10);
    await tested(org, history, old, "passed", 9);
    const newest = await madeBackup(org, history, 8);
    expect(await said(org, owner, history)).toEqual({ state: "proven", because: null });
    await tested(org, history, newest, "failed", 7);
    await tested(org, history, old, "passed", 6);
    expect(await said(org, owner, history)).toEqual({ state: "failed", because: "restore_test_failed" });
    await tested(org, history, newest, "passed", 5);
    expect(await said(org, owner, history)).toEqual({ state: "proven", because: null });
  });

  test("400 days after its last test, with a schedule or without", async () => {
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const history = await emptied(org);
    const backup = await madeBackup(org, history, 400 * 24 + 1);
    const test = 400 * 24;
    await tested(org, history, backup, "passed", test);
    expect(await said(org, owner, history)).toEqual({ state: "backed_up", because: "proof_too_old" });
    await service.pool.query(
      `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, status, decided_at)
       values ($1, 'restore_test', $2, $3, $4, 'done', now())`,
      [history.sourceId, ago(test + 1), org.id, ago(test - 1)],
    );
    const schedule = { backup_cron: null, restore_test_cron: "0 4 1 * *", timezone: "UTC" };
    const path = `/api/orgs/${org.id}/sources/${history.sourceId}/configure`;
    expect((await owner.post(path, { schedule })).json).toMatchObject({ proven: false });
    expect(await said(org, owner, history)).toEqual({ state: "backed_up", because: "proof_too_old" });
  });

  test("when only a backup older than its RPO has passed: 36 hours, or the objective", async () => {
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const history = await emptied(org);
    await tested(org, history, await madeBackup(org, history, 40), "passed", 39);
    await madeBackup(org, history, 1);
    expect(await said(org, owner, history)).toEqual({ state: "backed_up", because: "newest_not_proven" });
    const path = `/api/orgs/${org.id}/sources/${history.sourceId}/configure`;
    await owner.post(path, { objectives: { rpo_s: 48 * 3600 } });
    expect(await said(org, owner, history)).toEqual({ state: "proven", because: null });
  });
});

describe("of a source without results of tests", () => {
  let org: TestOrg;
  let owner: TestUser;
  let history: History;
  beforeEach(async () => {
    org = await service.addOrg();
    owner = await service.signIn(org);
    history = await makeHistory(service, org);
    await service.pool.query("delete from receipts where source_id = $1 and kind = 'restore_test'", [
      history.sourceId,
    ]);
    await service.pool.query("update sources set last_proven_at = null where id = $1", [history.sourceId]);
  });

  const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);
  const shown = async () => (await read(owner, org)).sources[0];

  async function tested(
    result: "passed" | "failed",
    { ran, came }: { ran: Date; came: Date },
  ): Promise<void> {
    const { agent, sourceId, backups } = history;
    await recordReceipt(service.database, {
      orgId: org.id,
      sourceId,
      agentId: agent.id,
      backupId: backups[0]?.id ?? "",
      kind: "restore_test",
      result,
      at: came,
      happenedAt: ran,
    });
    if (result === "passed")
      await service.pool.query(
        "update sources set last_proven_at = greatest(last_proven_at, $2) where id = $1",
        [sourceId, ran],
      );
  }

  test("a test that could not run counts although an older one's result came after it", async () => {
    const failed = {
      kind: "restore_failed",
      source_id: history.sourceId,
      detail: { reason: "no space left" },
    };
    await event(history.agent, { ...failed, occurred_at: ago(60).toISOString() });
    await tested("passed", { ran: ago(300), came: ago(30) });
    expect(await shown()).toMatchObject({ state: "failed" });
    await tested("passed", { ran: ago(50), came: ago(20) });
    expect(await shown()).toMatchObject({ state: "proven" });
  });

  test("a test that failed counts although an older one's result came after it", async () => {
    const ran = ago(60);
    await tested("failed", { ran, came: ago(59) });
    await tested("passed", { ran: ago(300), came: ago(30) });
    expect(await shown()).toMatchObject({
      state: "failed",
      concerns: ["restore_test_failed"],
      failed_at: ran.toISOString(),
    });
    await tested("passed", { ran: ago(50), came: ago(20) });
    expect(await shown()).toMatchObject({ state: "proven", failed_at: null });
    // Of a host whose clock is behind.
    await tested("failed", { ran: ago(5000), came: ago(10) });
    expect(await shown()).toMatchObject({ state: "failed", concerns: ["restore_test_failed"] });
  });
});

test.each([30, 90])(
  "what failed before the %i days that are shown and was not made good since counts as failed",
  async (days) => {
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const { sourceId, agent } = await makeHistory(service, org);
    const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
    const fail = async (kind: string, { at, came }: { at: Date; came: Date }): Promise<void> => {
      const answer = await agent.post("/v1/events", {
        kind,
        source_id: sourceId,
        occurred_at: at.toISOString(),
        detail: {},
      });
      await service.pool.query("update events set id = $2, created_at = $3 where id = $1", [
        answer.json["event_id"],
        newId("event", came.getTime()),
        came,
      ]);
    };
    const worked = (at: Date, column: string) =>
      service.pool.query(`update sources set ${column} = $2 where id = $1`, [sourceId, at]);
    const shown = async () => (await read(owner, org, `?days=${days}`)).sources[0];
    await worked(daysAgo(200), "last_backup_at");
    await worked(daysAgo(200), "last_proven_at");
    await service.pool.query("delete from receipts where source_id = $1", [sourceId]);
    const backup_failed = { state: "failed", concerns: ["backup_failed", "proof_too_old"] };

    await fail("backup_failed", { at: daysAgo(201), came: daysAgo(190) });
    expect(await shown()).toMatchObject({ state: "backed_up", concerns: ["proof_too_old"] });
    const failed = daysAgo(180);
    await fail("backup_failed", { at: failed, came: failed });
    // Of another agent, whose event waited: what it tells of was made good.
    await fail("backup_failed", { at: daysAgo(201), came: daysAgo(170) });
    expect(await shown()).toMatchObject({ ...backup_failed, failed_at: failed.toISOString() });
    expect((await shown())?.days).not.toContain("f");

    await fail("restore_failed", { at: daysAgo(100), came: daysAgo(100) });
    expect((await shown())?.concerns).toEqual(["restore_could_not_run", "backup_failed", "proof_too_old"]);
    await worked(daysAgo(95), "last_proven_at");
    expect(await shown()).toMatchObject(backup_failed);
    await worked(daysAgo(179), "last_backup_at");
    expect(await shown()).toMatchObject({ state: "backed_up", failed_at: null });
    await fail("restore_failed", { at: daysAgo(1), came: daysAgo(1) });
    expect(await shown()).toMatchObject({ state: "failed", days: expect.stringContaining("f") });
  },
);

test("trends go from the oldest day to the newest without the days that have none, and the newest test tells whether a check is missing", async () => {
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const { sourceId } = await makeHistory(service, org);
  await service.pool.query("delete from source_days where source_id = $1", [sourceId]);
  const daysAgo = (days: number): string =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  // In another order than that of the days.
  const known: [ago: number, size: number | null, restore_ms: number | null, checks: number | null][] = [
    [1, 1000, null, null],
    [60, 7, 7, 7],
    [4, 900, 80, 3],
    [2, null, 70, 0],
    [3, null, null, null],
  ];
  for (const [ago, size, restore_ms, checks] of known)
    await service.pool.query(
      `insert into source_days (org_id, source_id, day, backups, passed, size_bytes, restore_ms, own_checks) values ($1, $2, $3, 1, $4, $5, $6, $7)`,
      [org.id, sourceId, daysAgo(ago), restore_ms === null ? 0 : 1, size, restore_ms, checks],
    );
  for (const days of [30, 90]) {
    const { sources, next_steps } = await read(owner, org, `?days=${days}`);
    expect(sources).toMatchObject([{ sizes: [900, 1000], restore_times_ms: [80, 70] }]);
    expect(sources[0]?.days.slice(-5)).toBe("pbpb-");
    expect(sources[0]?.days.at(-61) ?? "-").toBe(days === 90 ? "p" : "-");
    expect(next_steps).toContainEqual({ kind: "write_check", source_id: sourceId });
  }
});
