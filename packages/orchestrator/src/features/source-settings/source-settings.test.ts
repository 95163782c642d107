import { newId } from "@attestore/contract";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let tester: TestAgent;
let owner: TestUser;
let now = new Date("2026-03-01T12:00:00.000Z");
beforeAll(async () => {
  service = await startTestService({ clock: () => now });
  org = await service.addOrg();
  agent = await service.attach(org);
  tester = await service.attach(org);
  owner = await service.signIn(org);
});
afterAll(() => service.close());

let slugs = 0;
const path = (id = "", call = ""): string =>
  `/api/orgs/${org.id}/sources${id && `/${id}`}${call && `/${call}`}`;

async function register(more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  slugs += 1;
  const answer = await owner.post(path(), {
    slug: `source-${slugs}`,
    engine: "postgresql",
    agent_id: agent.id,
    ...more,
  });
  expect(answer.status, answer.body.toString()).toBe(201);
  return answer.json;
}

const registered = async (more?: Record<string, unknown>): Promise<string> =>
  (await register(more))["id"] as string;

const commandsOf = async (by: TestAgent, acks: string[] = []): Promise<{ id: string; kind: string }[]> =>
  (await by.post("/v1/heartbeat", heartbeat({ acks: acks.map((command_id) => ({ command_id })) }))).json[
    "commands"
  ] as { id: string; kind: string }[];

describe("registering a source", () => {
  test("answers the record as the contract has it", async () => {
    expect(await register({ slug: "orders", name: "Orders", test_agent_id: tester.id })).toEqual({
      id: expect.stringMatching(/^src_/),
      created_at: now.toISOString(),
      org_id: org.id,
      slug: "orders",
      name: "Orders",
      engine: "postgresql",
      agent_id: agent.id,
      test_agent_id: tester.id,
      tags: [],
      environment: null,
      schedule: null,
      retention: null,
      objectives: null,
      last_backup_at: null,
      last_proven_at: null,
      proven: false,
      not_proven_because: "never_backed_up",
      next_backup_at: null,
      next_restore_test_at: null,
    });
  });

  test("takes a slug once, also when ten register it at the same time", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        owner.post(path(), { slug: "raced", engine: "sqlite", agent_id: agent.id }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array<number>(9).fill(409),
    ]);
    expect(answers.find(({ status }) => status === 409)?.json["error"]).toBe("already_exists");
  });

  test("wants agents of the organisation that are active", async () => {
    const stranger = await service.attach(await service.addOrg());
    const revoked = await service.attach(org);
    await service.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
      revoked.id,
    ]);
    const body = { slug: "of-whom", engine: "sqlite", agent_id: agent.id };
    for (const [more, status] of [
      [{ agent_id: stranger.id }, 404],
      [{ agent_id: newId("agent") }, 404],
      [{ agent_id: revoked.id }, 409],
      [{ test_agent_id: stranger.id }, 404],
      [{ test_agent_id: revoked.id }, 409],
    ] as const)
      expect((await owner.post(path(), { ...body, ...more })).status).toBe(status);
  });

  test("under one key happens once", async () => {
    const idempotencyKey = randomUUID();
    const body = { slug: "keyed", engine: "sqlite", agent_id: agent.id };
    const first = await owner.post(path(), body, { idempotencyKey });
    const again = await owner.post(path(), body, { idempotencyKey });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.equals(first.body)).toBe(true);
    const other = await owner.post(path(), { ...body, slug: "other" }, { idempotencyKey });
    expect(other.json["error"]).toBe("idempotency_key_reused");
  });

  test("is what its agent's declaration finds", async () => {
    const id = await registered({ slug: "declared" });
    const answer = await agent.post(
      "/v1/heartbeat",
      heartbeat({ sources: [{ slug: "declared", engine: "postgresql" }] }),
    );
    expect(answer.json["sources"]).toEqual([{ id, slug: "declared" }]);
  });
});

describe("listing", () => {
  test("pages newest first, and filters by agent and time", async () => {
    const mine = await service.attach(org);
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      now = new Date(now.getTime() + 60_000);
      ids.push(await registered({ agent_id: mine.id }));
    }
    const first = await owner.get(`${path()}?agent_id=${mine.id}&limit=3`);
    const next = first.json["next_cursor"] as string;
    const second = await owner.get(`${path()}?agent_id=${mine.id}&limit=3&cursor=${next}`);
    const idsOf = (answer: typeof first) => (answer.json["items"] as { id: string }[]).map(({ id }) => id);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.toReversed());
    expect(second.json["next_cursor"]).toBeNull();
    const from = new Date(now.getTime() - 60_000).toISOString();
    expect(idsOf(await owner.get(`${path()}?agent_id=${mine.id}&from=${from}`))).toEqual(
      ids.slice(3).toReversed(),
    );
    expect(
      idsOf(await owner.get(`${path()}?agent_id=${mine.id}&from=${from}&to=${now.toISOString()}`)),
    ).toEqual([ids[3]]);
  });

  test("refuses unknown filters", async () => {
    for (const query of [
      "kind=backup",
      "limit=0",
      "limit=201",
      "cursor=x",
      "agent_id=agent_1",
      "from=monday",
    ])
      expect((await owner.get(`${path()}?${query}`)).status, query).toBe(400);
  });
});

describe("configuring", () => {
  test("sets the given fields, returns the next times, and leaves the rest", async () => {
    const id = await registered();
    const set = await owner.post(path(id, "configure"), {
      schedule: { backup_cron: "30 2 * * *", timezone: "Europe/Berlin" },
      retention: { keep_last: 3, keep_monthly: 12 },
      objectives: { rpo_s: 86_400 },
    });
    expect(set.status, set.body.toString()).toBe(200);
    expect(set.json).toMatchObject({
      schedule: { backup_cron: "30 2 * * *", restore_test_cron: null, timezone: "Europe/Berlin" },
      retention: { keep_last: 3, keep_monthly: 12 },
      objectives: { rpo_s: 86_400 },
      next_backup_at: "2026-03-02T01:30:00.000Z",
      next_restore_test_at: null,
    });
    const renamed = await owner.post(path(id, "configure"), { name: "Renamed", objectives: null });
    expect(renamed.json).toEqual({ ...set.json, name: "Renamed", objectives: null });
    expect((await owner.get(path(id))).json).toEqual({
      ...renamed.json,
      incidents: [],
      coverage: { older_than_30_days: 0, tested_within_90_days: 0 },
    });
    const off = await owner.post(path(id, "configure"), { schedule: null });
    expect(off.json).toMatchObject({ schedule: null, next_backup_at: null });
    expect((await owner.post(path(id, "configure"), {})).json).toEqual(off.json);
  });

  test("keeps a time that is due when the same schedule is set again", async () => {
    const id = await registered();
    const schedule = { backup_cron: "0 * * * *", restore_test_cron: "0 5 * * *" };
    await owner.post(path(id, "configure"), { schedule });
    await service.pool.query("update sources set next_backup_at = '2026-01-01T00:00:00Z' where id = $1", [
      id,
    ]);
    const again = await owner.post(path(id, "configure"), {
      schedule: { ...schedule, restore_test_cron: "0 6 * * *" },
    });
    expect(again.json).toMatchObject({
      next_backup_at: "2026-01-01T00:00:00.000Z",
      next_restore_test_at: "2026-03-02T06:00:00.000Z",
    });
  });

  test.each([
    [{ schedule: { backup_cron: "61 * * * *" } }, "/schedule/backup_cron"],
    [{ schedule: { backup_cron: "0 0 31 2 *" } }, "/schedule/backup_cron"],
    [{ schedule: { restore_test_cron: "0 0 L * *" } }, "/schedule/restore_test_cron"],
    [{ schedule: { backup_cron: "* * * * *", timezone: "Mars/Olympus" } }, "/schedule/timezone"],
  ])("refuses %j, and says where", async (body, at) => {
    const answer = await owner.post(path(await registered(), "configure"), body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: "invalid_request", details: { issues: [{ path: at }] } });
  });

  test.each([
    { schedule: { backup_cron: "* * * * * *" } },
    { schedule: { backup_cron: "@daily" } },
    { schedule: { cron: "* * * * *" } },
    { retention: { keep_last: -1 } },
    { retention: { keep_last: 1.5 } },
    { retention: { keep_hourly: 1 } },
    { objectives: { rpo_s: 0 } },
    { checks: [] },
    { slug: "other" },
    { name: "" },
    { agent_id: null },
    [],
    "x",
  ])("refuses %j", async (body) => {
    expect((await owner.post(path(await registered(), "configure"), body)).status).toBe(400);
  });

  test("moves a source to another agent with its undelivered commands; those that the former agent had end", async () => {
    const lost = await service.attach(org);
    const id = await registered({ agent_id: lost.id });
    const given = await service.queueCommand(id, "backup");
    expect((await commandsOf(lost)).map((command) => command.id)).toEqual([given]);
    const queued = await service.queueCommand(id, "backup");
    const rescuer = await service.attach(org);
    const moved = await owner.post(path(id, "configure"), { agent_id: rescuer.id });
    expect(moved.json).toMatchObject({ agent_id: rescuer.id });
    expect((await commandsOf(rescuer)).map((command) => command.id)).toEqual([queued]);
    await service.pool.query("update commands set delivered_at = now() - interval '1 day' where id = $1", [
      given,
    ]);
    expect(await commandsOf(lost)).toEqual([]);
    const upload = await service.upload(rescuer, id, Buffer.from("ciphertext"));
    expect((await rescuer.post("/v1/backups", service.registration(upload, id))).status).toBe(201);
  });

  test("gives the restore tests to a second agent and back", async () => {
    const [first, second] = [await service.attach(org), await service.attach(org)];
    const id = await registered({ agent_id: first.id });
    const queued = await service.queueCommand(id, "restore_test");
    await owner.post(path(id, "configure"), { test_agent_id: second.id });
    expect((await commandsOf(second)).map((command) => command.id)).toEqual([queued]);
    expect(
      (await owner.post(path(id, "configure"), { test_agent_id: null })).json["test_agent_id"],
    ).toBeNull();
  });
});

describe("triggering", () => {
  test("queues a command that the agent gets", async () => {
    const mine = await service.attach(org);
    const id = await registered({ agent_id: mine.id });
    const answer = await owner.post(path(id, "trigger"), { kind: "backup" });
    expect(answer.status).toBe(202);
    const command_id = answer.json["command_id"] as string;
    expect(answer.json).toEqual({ command_id });
    expect((await owner.get(`/api/commands/${command_id}`)).json).toEqual({
      id: command_id,
      created_at: now.toISOString(),
      org_id: org.id,
      kind: "backup",
      source_id: id,
      agent_id: mine.id,
      status: "queued",
      params: {},
      attempts: 0,
      issued_by: owner.id,
      delivered_at: null,
      acked_at: null,
      ended_at: null,
      outcome: {},
    });
    expect(await commandsOf(mine)).toMatchObject([{ id: command_id, kind: "backup" }]);
    await commandsOf(mine, [command_id]);
    expect((await owner.get(`/api/commands/${command_id}`)).json).toMatchObject({
      status: "acked",
      attempts: 1,
    });
  });

  test("under one key queues one command", async () => {
    const id = await registered();
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        owner.post(path(id, "trigger"), { kind: "backup" }, { idempotencyKey }),
      ),
    );
    const done = answers.filter(({ status }) => status === 202);
    expect(new Set(done.map(({ json }) => json["command_id"])).size).toBe(1);
    const { rows } = await service.pool.query("select id from commands where source_id = $1", [id]);
    expect(rows).toHaveLength(1);
  });

  test("tests the backup that is named, if the source has it and it has not expired", async () => {
    const id = await registered();
    const ids: string[] = [];
    for (const text of ["one", "two"]) {
      const upload = await service.upload(agent, id, Buffer.from(text));
      ids.push((await agent.post("/v1/backups", service.registration(upload, id))).json["id"] as string);
    }
    const [older = "", newer = ""] = ids;
    const paramsOf = async (body: object): Promise<unknown> => {
      const answer = await owner.post(path(id, "trigger"), { kind: "restore_test", ...body });
      if (answer.status !== 202) return answer.status;
      return (await owner.get(`/api/commands/${answer.json["command_id"] as string}`)).json["params"];
    };
    expect(await paramsOf({})).toEqual({ backup_id: newer });
    expect(await paramsOf({ backup_id: older })).toEqual({ backup_id: older });
    await service.pool.query("update backups set status = 'expired' where id = $1", [older]);
    expect(await paramsOf({ backup_id: older })).toBe(404);
    expect(await paramsOf({ backup_id: newId("backup") })).toBe(404);
    expect((await owner.post(path(id, "trigger"), { kind: "backup", backup_id: newer })).status).toBe(400);
    expect((await owner.post(path(id, "trigger"), { kind: "restore" })).status).toBe(400);
  });

  test("is refused while the agent is revoked", async () => {
    const gone = await service.attach(org);
    const id = await registered({ agent_id: gone.id });
    await service.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
      gone.id,
    ]);
    expect((await owner.post(path(id, "trigger"), { kind: "backup" })).json["error"]).toBe("conflict");
  });
});

test("a change is logged with the old and new values; without a change nothing is logged", async () => {
  const id = await registered();
  const retention = { keep_last: 3 };
  for (const body of [{ retention }, { retention }, { name: "Orders", retention: null }])
    expect((await owner.post(path(id, "configure"), body)).status).toBe(200);
  const events = await owner.get(`/api/orgs/${org.id}/events?source_id=${id}`);
  const name = (await owner.get(path(id))).json["slug"];
  expect(events.json["items"]).toMatchObject([
    {
      kind: "source_configured",
      actor: { kind: "user", id: owner.id },
      detail: {
        slug: name,
        before: { retention, name },
        after: { name: "Orders", retention: null, schedule: null, objectives: null, test_agent_id: null },
      },
    },
    { kind: "source_configured", detail: { before: { retention: null }, after: { retention } } },
  ]);
});

describe("removing", () => {
  test("ends the source and its commands, is logged, and frees the slug", async () => {
    const mine = await service.attach(org);
    const record = await register({ agent_id: mine.id, slug: "removed" });
    const id = record["id"] as string;
    await owner.post(path(id, "configure"), { schedule: { backup_cron: "* * * * *" } });
    const command = await service.queueCommand(id, "backup");
    const answer = await owner.delete(path(id));
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id, slug: "removed", next_backup_at: null });
    for (const call of [
      () => owner.get(path(id)),
      () => owner.delete(path(id)),
      () => owner.post(path(id, "configure"), { name: "x" }),
      () => owner.post(path(id, "trigger"), { kind: "backup" }),
    ])
      expect((await call()).status).toBe(404);
    const events = await owner.get(`/api/orgs/${org.id}/events?source_id=${id}`);
    expect(events.json["items"]).toMatchObject([
      {
        kind: "source_removed",
        source_id: id,
        actor: { kind: "user", id: owner.id },
        detail: { slug: "removed" },
      },
      { kind: "source_configured", source_id: id },
    ]);
    const [event] = events.json["items"] as { id: string }[];
    expect((await owner.get(`/api/commands/${command}`)).json).toMatchObject({
      status: "queued",
      ended_at: expect.any(String),
      outcome: { event_id: event?.id },
    });
    expect(await commandsOf(mine)).toEqual([]);
    expect((await register({ slug: "removed" }))["id"]).not.toBe(id);
  });

  test("happens once when ten ask for it", async () => {
    const id = await registered();
    const answers = await Promise.all(Array.from({ length: 10 }, () => owner.delete(path(id))));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(9).fill(404),
    ]);
    const { rows } = await service.pool.query("select id from events where source_id = $1", [id]);
    expect(rows).toHaveLength(1);
  });
});

describe("who may", () => {
  const calls = (
    id: string,
    command: string,
  ): [method: "GET" | "POST" | "DELETE", path: string, body?: object][] => [
    ["GET", path()],
    ["GET", path(id)],
    ["GET", path(id, "timeline")],
    ["GET", path(id, "drift")],
    ["GET", path(id, "restore-tests")],
    ["GET", path(id, "retention-preview")],
    ["GET", `/api/orgs/${org.id}/schedule-preview`],
    ["GET", `/api/orgs/${org.id}/commands`],
    ["GET", `/api/orgs/${org.id}/incidents`],
    ["GET", `/api/commands/${command}`],
    ["POST", path(), { slug: "nobody", engine: "sqlite", agent_id: agent.id }],
    ["POST", path(id, "configure"), { name: "changed" }],
    ["POST", path(id, "trigger"), { kind: "backup" }],
    ["DELETE", path(id)],
  ];

  async function statuses(by: { token: string }, id: string, command: string): Promise<number[]> {
    const found: number[] = [];
    for (const [method, to, json] of calls(id, command))
      found.push((await service.call({ method, path: to, token: by.token, json })).status);
    return found;
  }

  test("owners and admins read and change, auditors read, operators do neither, agents are no people", async () => {
    const id = await registered();
    const command = await service.queueCommand(id, "backup");
    const auditor = await service.signIn(org, "auditor");
    expect(await statuses(auditor, id, command)).toEqual([
      ...Array<number>(10).fill(200),
      ...Array<number>(4).fill(403),
    ]);
    expect(new Set(await statuses(await service.signIn(null), id, command))).toEqual(new Set([403]));
    expect(new Set(await statuses(agent, id, command))).toEqual(new Set([401]));
    const admin = await service.signIn(org, "admin");
    expect(await statuses(admin, id, command)).toEqual([...Array<number>(10).fill(200), 201, 200, 202, 200]);
  });

  test("another organisation's people find nothing, whatever their role, and nothing changes", async () => {
    const id = await registered({ name: "Unchanged" });
    const command = await service.queueCommand(id, "backup");
    const other = await service.addOrg();
    for (const role of ["owner", "admin", "auditor"] as const)
      expect(new Set(await statuses(await service.signIn(other, role), id, command))).toEqual(new Set([404]));
    expect((await owner.get(path(id))).json).toMatchObject({ name: "Unchanged" });
    const stranger = await service.signIn(other);
    // Its own organisation in the path, and our source.
    for (const call of ["", "timeline", "drift", "restore-tests", "retention-preview"]) {
      const answer = await stranger.get(`/api/orgs/${other.id}/sources/${id}${call && `/${call}`}`);
      expect(answer.status).toBe(404);
    }
    for (const [call, body] of [
      ["configure", { name: "x" }],
      ["trigger", { kind: "backup" }],
    ] as const)
      expect((await stranger.post(`/api/orgs/${other.id}/sources/${id}/${call}`, body)).status).toBe(404);
    expect((await stranger.delete(`/api/orgs/${other.id}/sources/${id}`)).status).toBe(404);
  });
});
