import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Answer } from "../../../test/client.ts";
import { type DatabaseSwitch, openDatabaseSwitch } from "../../../test/database-switch.ts";
import {
  heartbeat,
  type Replica,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
} from "../../../test/service.ts";
import { queueCommand } from "../command-queue/queue-command.ts";
import { requireSource } from "../sources/named-source.ts";

let service: TestService;
let org: TestOrg;
/** Of the same service, over a way to the database that can be cut. */
let replica: Replica;
let database: DatabaseSwitch;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  database = await openDatabaseSwitch(service.serviceConnection);
  replica = await service.listen(database.connection);
});
afterAll(async () => {
  await replica.close();
  await database.close();
  await service.close();
});

let slugs = 0;

/** An agent and its one source. */
async function agentWithSource(): Promise<{ agent: TestAgent; sourceId: string }> {
  const agent = await service.attach(org);
  // Its first heartbeat is no hurry.
  await service.pool.query("update agents set last_seen_at = now() - interval '1 hour' where id = $1", [
    agent.id,
  ]);
  slugs += 1;
  const sources = [{ slug: `waited-${slugs}`, engine: "files" }];
  const answer = await agent.post("/v1/heartbeat", heartbeat({ sources }));
  const [source] = answer.json["sources"] as { id: string }[];
  return { agent, sourceId: source?.id ?? "" };
}

const wait = ({ token }: TestAgent, wait_s: number, at: Replica = service): Promise<Answer> =>
  at.call({ method: "GET", path: `/v1/commands?wait_s=${wait_s}`, token });

/** A request that a replica holds; in a list, so that awaiting this is not awaiting its answer. */
async function held(agent: TestAgent, at: Replica = service): Promise<[Promise<Answer>]> {
  const before = at.holding();
  const answer = wait(agent, 50, at);
  await vi.waitFor(() => expect(at.holding()).toBe(before + 1));
  return [answer];
}

const seen = ({ status, json }: Answer): unknown => [status, json["queued"] ?? json["error"]];

describe("an agent that waits for commands", () => {
  test("hears of it at once, whichever replica queued the command, and gets it with its heartbeat", async () => {
    const { agent, sourceId } = await agentWithSource();
    for (const at of [service, replica]) {
      const [answer] = await held(agent, at);
      const id = await service.queueCommand(sourceId, "backup");
      expect(seen(await answer)).toEqual([200, true]);
      expect(seen(await wait(agent, 0))).toEqual([200, true]);
      const beat = await agent.post("/v1/heartbeat", heartbeat());
      expect(beat.json["commands"]).toMatchObject([{ id, attempt: 1 }]);
      expect(seen(await wait(agent, 0))).toEqual([200, false]);
    }
    const quick = "an agent sends heartbeats too often";
    const told = service.logger.lines.filter(
      ({ message, fields }) => message === quick && "agent_id" in fields && fields.agent_id === agent.id,
    );
    expect(told).toEqual([]);
  });

  test("is not told of other agents' commands, nor at once of scheduled ones", async () => {
    const { agent, sourceId } = await agentWithSource();
    const other = await agentWithSource();
    const answers = Promise.all([wait(agent, 1), wait(other.agent, 1)]);
    await service.database.transaction().execute(async (tx) => {
      const source = await requireSource(tx, null, sourceId);
      await queueCommand(tx, { source, kind: "backup", backupId: null, issuedBy: "schedule" });
    });
    const [own, others] = await answers;
    expect(seen(others)).toEqual([200, false]);
    expect(own.status).toBe(200);
    expect(seen(await wait(agent, 0))).toEqual([200, true]);
  });

  test("waits once: a second request ends the first", async () => {
    const { agent, sourceId } = await agentWithSource();
    const [first] = await held(agent);
    const second = wait(agent, 50);
    expect(seen(await first)).toEqual([200, false]);
    await service.queueCommand(sourceId, "restore_test");
    expect(seen(await second)).toEqual([200, true]);
  });

  test("is refused once it is revoked", async () => {
    const { agent } = await agentWithSource();
    const [answer] = await held(agent);
    const owner = await service.signIn(org);
    expect((await owner.post(`/api/orgs/${org.id}/agents/${agent.id}/revoke`)).status).toBe(200);
    expect(seen(await answer)).toEqual([401, "agent_revoked"]);
  });

  test("keeps its place while the database is down, and hears of commands that came meanwhile", async () => {
    const { agent, sourceId } = await agentWithSource();
    for (const isBack of [true, false]) {
      const [answer] = await held(agent, replica);
      database.off();
      if (isBack) database.on();
      await service.queueCommand(sourceId, "backup");
      database.on();
      // Cut off while it looked, it comes again.
      const { status } = await answer;
      const told = status === 503 ? await wait(agent, 50, replica) : await answer;
      expect(seen(told)).toEqual([200, true]);
      await agent.post("/v1/heartbeat", heartbeat());
    }
  });

  test("is let go when the service stops", async () => {
    const { agent } = await agentWithSource();
    const stopping = await service.listen();
    const [answer] = await held(agent, stopping);
    await stopping.close();
    const { headers, status, json } = await answer;
    expect([status, json["queued"], headers["connection"]]).toEqual([200, false, "close"]);
  });

  test("leaves no trace in the API log, has a limit of its own, and waits 50 seconds at most", async () => {
    const { agent } = await agentWithSource();
    const { headers } = await wait(agent, 0);
    expect(headers["ratelimit-policy"]).toBe('"command_wait";q=120;w=60');
    const eager = (await agentWithSource()).agent;
    const answers = await Promise.all(Array.from({ length: 125 }, () => wait(eager, 0)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
    const turnedAway = answers.filter(({ status }) => status === 429);
    expect(turnedAway).toHaveLength(5);
    expect(turnedAway[0]?.headers["retry-after"]).toMatch(/^[1-9]\d?$/);
    const refused = await Promise.all(["51", "-1", "1.5", ""].map((text) => wait(agent, text as never)));
    for (const { status } of refused) expect(status).toBe(400);
    const logged = async (): Promise<unknown> => {
      const { rows } = await service.pool.query(
        "select distinct status from api_logs where actor_id = $1 and route = '/v1/commands'",
        [agent.id],
      );
      return rows;
    };
    await vi.waitFor(async () => expect(await logged()).toEqual([{ status: 400 }]), { timeout: 10_000 });
  });

  test("is counted in the metrics", async () => {
    const { agent, sourceId } = await agentWithSource();
    const counted = async (): Promise<string | undefined> =>
      /^attestore_agents_waiting (\d+)$/m.exec(
        (await service.call({ method: "GET", path: "/metrics" })).body.toString(),
      )?.[1];
    expect(await counted()).toBe("0");
    const [answer] = await held(agent);
    await vi.waitFor(async () => expect(await counted()).toBe("1"));
    await service.queueCommand(sourceId, "backup");
    await answer;
    expect(await counted()).toBe("0");
  });
});
