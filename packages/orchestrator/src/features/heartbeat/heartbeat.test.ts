import { newId } from "@attestore/contract";
import { openCheckpoint, parseVerifierKey } from "@attestore/proof";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let sourceId: string;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
  sourceId = (await declare(agent, ["orders"]))["orders"] ?? "";
});
afterAll(() => service.close());

interface Delivered {
  id: string;
  attempt: number;
}

async function beat(by: TestAgent, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const answer = await by.post("/v1/heartbeat", heartbeat(more));
  expect(answer.status, answer.body.toString()).toBe(200);
  return answer.json;
}

const commandsOf = (body: Record<string, unknown>): Delivered[] => body["commands"] as Delivered[];

async function declare(
  by: TestAgent,
  slugs: string[],
  engine = "postgresql",
): Promise<Record<string, string>> {
  const body = await beat(by, { sources: slugs.map((slug) => ({ slug, engine })) });
  const sources = body["sources"] as { slug: string; id: string }[];
  return Object.fromEntries(sources.map(({ slug, id }) => [slug, id]));
}

async function heartbeatsLogged({ id }: TestAgent): Promise<number> {
  const { rows } = await service.pool.query(
    "select 1 from api_logs where actor_id = $1 and route = '/v1/heartbeat'",
    [id],
  );
  return rows.length;
}

/** As if the last delivery had been so long ago. */
const age = (id: string, seconds: number) =>
  service.pool.query(
    "update commands set delivered_at = delivered_at - make_interval(secs => $2) where id = $1",
    [id, seconds],
  );

describe("a heartbeat", () => {
  test("is answered with the time, the interval and a checkpoint of the organisation's log", async () => {
    const body = await beat(agent);
    expect(body).toMatchObject({ next_interval_s: 60, commands: [], sources: [] });
    expect(Math.abs(Date.parse(body["server_time"] as string) - Date.now())).toBeLessThan(5000);
    const opened = await openCheckpoint(body["log_head"] as string, parseVerifierKey(agent.log.verifier_key));
    expect(opened.origin).toBe(agent.log.origin);
  });

  test("updates the agent's record", async () => {
    await beat(agent, { hostname: "renamed", platform: "linux-arm64", agent_version: "0.2.0" });
    const { rows } = await service.pool.query(
      "select hostname, platform, agent_version, now() - last_seen_at < interval '5 s' as seen from agents where id = $1",
      [agent.id],
    );
    expect(rows).toEqual([
      { hostname: "renamed", platform: "linux-arm64", agent_version: "0.2.0", seen: true },
    ]);
  });

  test("is in the API log where something is new in it, and not once a minute", async () => {
    const quiet = await service.attach(org);
    const declared = { sources: [{ slug: "quiet", engine: "files" }] };
    const steps: [object, number][] = [
      [{}, 0],
      [{ uptime_s: 65 }, 0],
      [declared, 1],
      [declared, 1],
      [{ sources: [{ slug: "quiet", engine: "sqlite" }] }, 2],
      [{ sources: [{ slug: "quiet", engine: "sqlite", tags: ["b", "a"], environment: "production" }] }, 3],
      [{ sources: [{ slug: "quiet", engine: "sqlite", tags: ["a", "b"], environment: "production" }] }, 3],
      [{ sources: [{ slug: "quiet", engine: "sqlite" }] }, 4],
      [{ agent_version: "0.2.0" }, 5],
      [{ agent_version: "0.2.0", acks: [{ command_id: newId("command") }] }, 6],
      [{ agent_version: "0.2.0" }, 6],
    ];
    for (const [more, count] of steps) {
      await beat(quiet, more as Record<string, unknown>);
      expect(await heartbeatsLogged(quiet), JSON.stringify(more)).toBe(count);
    }
    const { quiet: id = "" } = await declare(quiet, ["quiet"]);
    const before = await heartbeatsLogged(quiet);
    await service.queueCommand(id, "backup");
    await beat(quiet);
    expect(await heartbeatsLogged(quiet)).toBe(before + 1);
  });

  test("with a source that was removed is nothing new either", async () => {
    const quiet = await service.attach(org);
    const declared = { sources: [{ slug: "left-behind", engine: "files" }] };
    await beat(quiet, declared);
    await service.pool.query("update sources set removed_at = now() where slug = 'left-behind'");
    const logged = await heartbeatsLogged(quiet);
    expect((await beat(quiet, declared))["sources"]).toEqual([]);
    expect(await heartbeatsLogged(quiet)).toBe(logged);
    await beat(await service.attach(org), declared);
    expect((await beat(quiet, declared))["sources"]).toHaveLength(1);
  });

  test("without news still updates the values that change all the time, and no other agent's", async () => {
    const [one, other] = [await service.attach(org), await service.attach(org)];
    const state = async (id: string): Promise<unknown> => {
      const { rows } = await service.pool.query<{ spool: unknown; seen: Date }>(
        "select spool, last_seen_at as seen from agents where id = $1",
        [id],
      );
      return rows[0];
    };
    await beat(one);
    await beat(other);
    const before = await state(other.id);
    const spool = { receipts: 3, backups: 0, events: 0 };
    await beat(one, { spool });
    expect(await state(one.id)).toMatchObject({ spool });
    await beat(one);
    expect(await state(one.id)).toMatchObject({ spool: null });
    expect(await state(other.id)).toEqual(before);
  });

  test("of a revoked agent is refused and notes nothing, whatever it says", async () => {
    const gone = await service.attach(org);
    await beat(gone);
    const seen = async (): Promise<unknown> =>
      (await service.pool.query("select last_seen_at from agents where id = $1", [gone.id])).rows;
    const before = await seen();
    await service.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
      gone.id,
    ]);
    expect((await gone.post("/v1/heartbeat", heartbeat({}))).json["error"]).toBe("agent_revoked");
    expect(await seen()).toEqual(before);
  });

  test("that comes faster than a tenth of the cadence is logged and answered", async () => {
    const eager = await service.attach(org);
    await beat(eager);
    await beat(eager);
    const line = service.logger.lines.find(
      ({ message }) => message === "an agent sends heartbeats too often",
    );
    expect(line).toBeDefined();
    expect(
      service.logger.lines.some(({ fields }) => "agent_id" in fields && fields.agent_id === eager.id),
    ).toBe(true);
  });
});

describe("declared sources", () => {
  test("are registered once, as declared", async () => {
    const first = await declare(agent, ["orders", "invoices", "invoices"]);
    expect(Object.keys(first).sort()).toEqual(["invoices", "orders"]);
    expect(await declare(agent, ["invoices", "orders"])).toEqual(first);
    expect(first["orders"]).toBe(sourceId);
  });

  test("are registered once when two agents declare them at once", async () => {
    const second = await service.attach(org);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => declare(n % 2 === 0 ? agent : second, ["raced", "raced-too"])),
    );
    expect(new Set(answers.map((ids) => `${ids["raced"]} ${ids["raced-too"]}`)).size).toBe(1);
  });

  test("follow their own agent's engine and nobody else's", async () => {
    const { changed } = await declare(agent, ["changed"], "sqlite");
    await declare(agent, ["changed"], "files");
    await declare(await service.attach(org), ["changed"], "postgresql");
    const { rows } = await service.pool.query("select engine, agent_id from sources where id = $1", [
      changed,
    ]);
    expect(rows).toEqual([{ engine: "files", agent_id: agent.id }]);
  });

  test("have the tags and the environment that their own agent declared last, and nobody else's", async () => {
    const labels = async (by: TestAgent, more: object): Promise<unknown> => {
      await beat(by, { sources: [{ slug: "labelled", engine: "files", ...more }] });
      const { rows } = await service.pool.query<{ labels: unknown }>(
        "select labels from sources where org_id = $1 and slug = 'labelled'",
        [org.id],
      );
      return rows[0]?.labels;
    };
    const declared = { tags: ["eu", "billing"], environment: "production" };
    expect(await labels(agent, declared)).toEqual({ tags: ["billing", "eu"], environment: "production" });
    expect(await labels(await service.attach(org), { tags: ["mine"] })).toMatchObject({
      environment: "production",
    });
    expect(await labels(agent, { environment: "staging" })).toEqual({ environment: "staging" });
    expect(await labels(agent, {})).toEqual({});
  });

  test.each([
    ["tags", ["Upper"]],
    ["tags", ["a b"]],
    ["tags", ["a", "a"]],
    ["tags", Array.from({ length: 21 }, (_, n) => `t${n}`)],
    ["environment", "x".repeat(64)],
    ["environment", ["production"]],
  ])("are refused with a wrong label: %s %j", async (field, value) => {
    const sources = [{ slug: "labelled", engine: "files", [field]: value }];
    expect((await agent.post("/v1/heartbeat", heartbeat({ sources }))).status).toBe(400);
  });

  test("are answered with the agent that makes their backups if it is another, by a routine heartbeat too", async () => {
    const second = await service.attach(org);
    const { owned: id } = await declare(agent, ["owned"]);
    const own = { sources: [{ slug: "owned", engine: "postgresql" }] };
    for (let routine = 0; routine < 2; routine++)
      expect((await beat(agent, own))["sources"]).toEqual([{ id, slug: "owned" }]);
    for (let routine = 0; routine < 2; routine++)
      expect((await beat(second, { sources: [{ slug: "owned", engine: "postgresql" }] }))["sources"]).toEqual(
        [{ id, slug: "owned", agent_id: agent.id }],
      );
  });

  test("stay removed although their agent still declares them", async () => {
    const { gone } = await declare(agent, ["gone"]);
    await service.pool.query("update sources set removed_at = now() where id = $1", [gone]);
    expect(await declare(agent, ["gone"])).toEqual({});
    const { rows } = await service.pool.query("select id from sources where slug = 'gone'");
    expect(rows).toHaveLength(1);
  });

  test("of another organisation are other sources", async () => {
    const stranger = await service.attach(await service.addOrg());
    expect((await declare(stranger, ["orders"]))["orders"]).not.toBe(sourceId);
  });
});

describe("a command", () => {
  test("is delivered with its source, once, until its ack", async () => {
    const id = await service.queueCommand(sourceId, "backup");
    const [command, ...others] = commandsOf(await beat(agent));
    expect(others).toEqual([]);
    expect(command).toMatchObject({
      id,
      kind: "backup",
      source: { id: sourceId, slug: "orders", engine: "postgresql" },
      params: {},
      attempt: 1,
    });
    expect(commandsOf(await beat(agent))).toEqual([]);
    expect(commandsOf(await beat(agent, { acks: [{ command_id: id }] }))).toEqual([]);
    await age(id, 1000);
    expect(commandsOf(await beat(agent))).toEqual([]);
  });

  test("not acked within three intervals comes again: same id, one attempt more", async () => {
    const id = await service.queueCommand(sourceId, "backup");
    await beat(agent);
    await age(id, 3 * 60 - 5);
    expect(commandsOf(await beat(agent))).toEqual([]);
    await age(id, 10);
    expect(commandsOf(await beat(agent))).toMatchObject([{ id, attempt: 2 }]);
    await age(id, 181);
    expect(commandsOf(await beat(agent))).toMatchObject([{ id, attempt: 3 }]);
    await beat(agent, { acks: [{ command_id: id }] });
  });

  test("is delivered once when ten heartbeats come at the same time, on two replicas", async () => {
    const replica = await service.listen();
    const ids = [
      await service.queueCommand(sourceId, "backup"),
      await service.queueCommand(sourceId, "restore_test"),
    ];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? service : replica).call({
          method: "POST",
          path: "/v1/heartbeat",
          token: agent.token,
          json: heartbeat(),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.flatMap(({ json }) => commandsOf(json)).map(({ id, attempt }) => [id, attempt])).toEqual(
      ids.map((id) => [id, 1]),
    );
    await beat(agent, { acks: ids.map((command_id) => ({ command_id })) });
    await replica.close();
  });

  test("lost with its answer is in the replay of the same heartbeat", async () => {
    const id = await service.queueCommand(sourceId, "backup");
    const idempotencyKey = randomUUID();
    const first = await agent.post("/v1/heartbeat", heartbeat(), { idempotencyKey });
    const again = await agent.post("/v1/heartbeat", heartbeat(), { idempotencyKey });
    expect(commandsOf(again.json)).toMatchObject([{ id, attempt: 1 }]);
    expect(again.body.equals(first.body)).toBe(true);
    await beat(agent, { acks: [{ command_id: id }] });
  });

  test("is neither seen nor acked by another agent", async () => {
    const id = await service.queueCommand(sourceId, "backup");
    const others = [await service.attach(org), await service.attach(await service.addOrg())];
    for (const other of others)
      expect(commandsOf(await beat(other, { acks: [{ command_id: id }] }))).toEqual([]);
    expect(commandsOf(await beat(agent))).toMatchObject([{ id, attempt: 1 }]);
    for (const other of others) await beat(other, { acks: [{ command_id: id }] });
    await age(id, 181);
    expect(commandsOf(await beat(agent))).toMatchObject([{ id, attempt: 2 }]);
    await beat(agent, { acks: [{ command_id: id }, { command_id: newId("command") }] });
  });

  test("for a restore test names the newest backup and goes to the agent that tests the source", async () => {
    const owner = await service.attach(org);
    const tester = await service.attach(org);
    const { tested = "" } = await declare(owner, ["tested"]);
    await service.pool.query("update sources set test_agent_id = $2 where id = $1", [tested, tester.id]);
    const upload = await service.upload(owner, tested, Buffer.from("ciphertext"));
    const backup = await owner.post("/v1/backups", service.registration(upload, tested));
    expect(backup.status).toBe(201);
    const id = await service.queueCommand(tested, "restore_test");
    expect(commandsOf(await beat(owner))).toEqual([]);
    expect(commandsOf(await beat(tester))).toMatchObject([{ id, params: { backup_id: backup.json["id"] } }]);
  });

  test("shows how far its agent is, to people of the organisation", async () => {
    const owner = await service.signIn(org);
    const triggered = await owner.post(`/api/orgs/${org.id}/sources/${sourceId}/trigger`, { kind: "backup" });
    const id = String(triggered.json["command_id"]);
    const ended = [{ phase: "checks", bytes: 0, checks: 7, took_ms: 12 }];
    const progress = {
      phase: "dump",
      bytes: 3_000_000_000,
      total_bytes: 8_000_000_000,
      phase_ms: 4000,
      ended,
    };
    const report = (by: TestAgent, json: object = progress) => by.post(`/v1/commands/${id}/progress`, json);
    const shown = async (): Promise<unknown> => (await owner.get(`/api/commands/${id}`)).json["progress"];
    expect((await report(agent)).status).toBe(404);
    await beat(agent);
    expect(await shown()).toBeUndefined();
    expect((await report(agent)).json).toEqual({ next_s: 2 });
    expect(await shown()).toEqual({ ...progress, at: expect.any(String) });
    for (const other of [await service.attach(org), await service.attach(await service.addOrg())])
      expect((await report(other, { ...progress, bytes: 0 })).status).toBe(404);
    const wrongs = [
      { phase: "<b>" },
      { bytes: -1 },
      { bytes: 1.5 },
      { row: "secret" },
      // No line of text gets through, and no list that grows.
      { ended: ["pg_dump: password"] },
      { ended: [{ ...ended[0], line: "secret" }] },
      { ended: [{ ...ended[0], phase: "Secret Row" }] },
      { ended: Array(13).fill(ended[0]) },
    ];
    for (const wrong of wrongs)
      expect((await report(agent, { ...progress, ...wrong })).status, JSON.stringify(wrong)).toBe(400);
    expect(await shown()).toMatchObject(progress);
    const { rows } = await service.pool.query(
      "select status from api_logs where actor_id = $1 and route = '/v1/commands/:id/progress' and status = 200",
      [agent.id],
    );
    expect(rows).toEqual([]);
    await service.pool.query("update commands set issued_by = 'schedule' where id = $1", [id]);
    expect((await report(agent)).json).toEqual({ next_s: 60 });
    await service.pool.query("update commands set ended_at = now() where id = $1", [id]);
    expect((await report(agent)).status).toBe(404);
  });
});

describe("heartbeats that come at the same time", () => {
  /** Two organisations whose agents declare sources of the same name. */
  async function addFleet(): Promise<{ agents: TestAgent[]; sources: Map<string, string> }> {
    const orgs = [await service.addOrg(), await service.addOrg()];
    const agents: TestAgent[] = [];
    const sources = new Map<string, string>();
    for (let n = 0; n < 8; n += 1) {
      const added = await service.attach(orgs[n % 2]!);
      const slug = `shared-${n >> 1}`;
      sources.set(added.id, (await declare(added, [slug]))[slug] ?? "");
      agents.push(added);
    }
    return { agents, sources };
  }

  const declared = (n: number) => ({ sources: [{ slug: `shared-${n >> 1}`, engine: "postgresql" }] });
  const lastSeen = async (ids: readonly string[]): Promise<number> => {
    const { rows } = await service.pool.query<{ count: number }>(
      "select count(*)::integer as count from agents where id = any($1) and last_seen_at > now() - interval '10 s'",
      [ids],
    );
    return rows[0]?.count ?? 0;
  };
  const unsee = () =>
    service.pool.query(
      "update agents set last_seen_at = now() - interval '1 h' where last_seen_at is not null",
    );

  test("get each their own organisation's sources and log, and each its own commands", async () => {
    const { agents, sources } = await addFleet();
    const asked = agents[3]!;
    const commandId = await service.queueCommand(sources.get(asked.id) ?? "", "backup");
    await service.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
      agents[5]!.id,
    ]);
    await unsee();
    const answers = await Promise.all(
      agents.map((by, n) => by.post("/v1/heartbeat", heartbeat(declared(n)))),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 401, 200, 200]);
    for (const [n, { json }] of answers.entries()) {
      if (n === 5) continue;
      const by = agents[n]!;
      expect(json["sources"]).toEqual([{ id: sources.get(by.id), slug: `shared-${n >> 1}` }]);
      expect((json["log_head"] as string).split("\n")[0]).toBe(by.log.origin);
      expect(commandsOf(json).map(({ id }) => id)).toEqual(by === asked ? [commandId] : []);
    }
    expect(await lastSeen(agents.map(({ id }) => id))).toBe(7);
  });

  test("are answered while somebody holds the row of one of the agents, and that one afterwards", async () => {
    const { agents } = await addFleet();
    const [held, ...others] = agents;
    await unsee();
    const holder = await service.pool.connect();
    let answered = false;
    let waiting: Promise<number> = Promise.resolve(0);
    try {
      await holder.query("begin");
      await holder.query("select from agents where id = $1 for update", [held!.id]);
      waiting = held!.post("/v1/heartbeat", heartbeat(declared(0))).then(({ status }) => {
        answered = true;
        return status;
      });
      await Promise.all(others.map((by, n) => beat(by, declared(n + 1))));
      expect(answered).toBe(false);
      expect(await lastSeen(agents.map(({ id }) => id))).toBe(7);
    } finally {
      await holder.query("rollback");
      holder.release();
    }
    expect(await waiting).toBe(200);
    expect(await lastSeen(agents.map(({ id }) => id))).toBe(8);
  });

  test.each([
    ["NUL", "a\0b"],
    ["half of a surrogate pair", "\ud800"],
  ])("are noted also if one of them has a text with %s, and that one is refused", async (_what, text) => {
    const { agents } = await addFleet();
    const fields = [
      { hostname: text },
      { encryption: { recipients: [text], recovery_kit: null } },
      { sources: [{ slug: "shared-1", engine: "postgresql", name: text }] },
    ];
    await unsee();
    const [hostile, ...others] = agents;
    const sent = others.map((by, n) => by.post("/v1/heartbeat", heartbeat(declared(n + 1))));
    for (const more of fields) sent.push(hostile!.post("/v1/heartbeat", heartbeat(more)));
    const answers = (await Promise.all(sent)).map(({ status }) => status);
    expect(answers).toEqual([...others.map(() => 200), 400, 400, 400]);
    expect(await lastSeen(others.map(({ id }) => id))).toBe(7);
    expect(await lastSeen([hostile!.id])).toBe(0);
  });

  test("of the same agent are all answered", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => agent.post("/v1/heartbeat", heartbeat())),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
});
