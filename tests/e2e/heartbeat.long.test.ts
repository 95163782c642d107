import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { declareSource, heartbeatBody } from "./harness/backups.ts";
import { openCheckpoint } from "./harness/checkpoint.ts";
import { expectError } from "./harness/errors.ts";
import { attach, createOrganisation, type Organisation, type WireAgent } from "./harness/organisation.ts";
import { idOf, TIMESTAMP, unknownId } from "./harness/patterns.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

const INTERVAL_S = 1;

interface Delivered {
  id: string;
  kind: string;
  source: { id: string; slug: string; engine: string };
  params: Record<string, unknown>;
  issued_at: string;
  attempt: number;
}

interface Beat {
  server_time: string;
  next_interval_s: number;
  commands: Delivered[];
  log_head: string;
  sources?: { id: string; slug: string }[];
}

let server: Server;
let org: Organisation;
let agent: WireAgent;
let source: string;

beforeAll(async () => {
  server = await startServer({ ATTESTORE_HEARTBEAT_INTERVAL_S: String(INTERVAL_S) });
  org = await createOrganisation(server);
  agent = await attach(org);
  source = await declareSource(agent, "orders-db");
});
afterAll(() => server.remove());

async function beat(by: WireAgent, more: Record<string, unknown> = {}): Promise<Beat> {
  const answer = await by.call("POST", "/v1/heartbeat", heartbeatBody(more));
  expect(answer.status, answer.body.toString()).toBe(200);
  return answer.json<Beat>();
}

const ack = (...ids: string[]): Record<string, unknown> => ({
  acks: ids.map((command_id) => ({ command_id })),
});

async function queue(kind: "backup" | "restore_test"): Promise<string> {
  const made = await server.cliJson<{ id?: string; command_id?: string }>(
    "command",
    "queue",
    "--org",
    org.id,
    "--source",
    source,
    "--kind",
    kind,
  );
  return made.command_id ?? made.id ?? "";
}

describe("a heartbeat", () => {
  it("returns the time, the next interval, the commands and the log's head", async () => {
    const answer = await beat(agent);
    expect(answer).toMatchObject({
      server_time: expect.stringMatching(TIMESTAMP),
      next_interval_s: INTERVAL_S,
      commands: [],
      log_head: expect.any(String),
    });
    expect(Math.abs(Date.parse(answer.server_time) - Date.now())).toBeLessThan(5000);
    expect(openCheckpoint(answer.log_head, agent.log.verifier_key).origin).toBe(agent.log.origin);
    expect(agent.intervalS).toBe(INTERVAL_S);
  });

  it("registers the sources that it declares once", async () => {
    const sources = [
      { slug: "orders-db", engine: "postgresql" },
      { slug: "invoices", engine: "sqlite" },
      { slug: "uploads", engine: "files", name: "Uploads of customers" },
    ];
    const first = (await beat(agent, { sources })).sources ?? [];
    expect(first.map(({ slug }) => slug).toSorted()).toEqual(["invoices", "orders-db", "uploads"]);
    for (const { id } of first) expect(id).toMatch(idOf("src"));
    const again = (await beat(agent, { sources })).sources ?? [];
    const byName = (list: { id: string; slug: string }[]) =>
      Object.fromEntries(list.map(({ slug, id }) => [slug, id]));
    expect(byName(again)).toEqual(byName(first));
    expect(byName(first)["orders-db"]).toBe(source);
  });

  it("registers a source once when two agents declare it at the same time", async () => {
    const second = await attach(org);
    const sources = [{ slug: "raced", engine: "files" }];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => beat(n % 2 ? agent : second, { sources })),
    );
    expect(new Set(answers.map((answer) => answer.sources?.[0]?.id)).size).toBe(1);
  });

  it("with the head that it returned before is accepted", async () => {
    const { log_head } = await beat(agent);
    await beat(agent, { log_head });
  });

  it("with an invalid head or cosignature is refused or accepted, and stops no other", async () => {
    const { log_head } = await beat(agent);
    for (const more of [
      { log_head: "nonsense" },
      { log_head, cosignature: "nonsense" },
      { cosignature: "\u2014 x AAAA" },
    ]) {
      const answer = await agent.call("POST", "/v1/heartbeat", heartbeatBody(more));
      if (answer.status !== 200) expectError(answer, "invalid_request");
    }
    await beat(agent);
  });

  it("may come more often than asked, because it has no hard limit", async () => {
    const eager = await attach(org);
    for (let n = 0; n < 30; n++) await beat(eager);
  });
});

describe("a command", () => {
  it("is delivered with its source, and never again after it was acknowledged", async () => {
    const kinds = ["backup", "restore_test"] as const;
    const ids = [await queue(kinds[0]), await queue(kinds[1])];
    const { commands } = await beat(agent);
    expect(commands).toEqual(
      kinds.map((kind, n) => ({
        id: ids[n],
        kind,
        source: { id: source, slug: "orders-db", engine: "postgresql" },
        params: {},
        issued_at: expect.stringMatching(TIMESTAMP),
        attempt: 1,
      })),
    );
    for (const id of ids) expect(id).toMatch(idOf("cmd"));
    const acked = performance.now();
    expect((await beat(agent, ack(...ids))).commands).toEqual([]);
    // Past the time in which an unacked one would come again.
    await until("four intervals pass without it", async () => {
      expect((await beat(agent)).commands).toEqual([]);
      return performance.now() - acked > 4 * INTERVAL_S * 1000;
    });
  });

  it("is sent again after three intervals without acknowledgement, with its attempt one higher", async () => {
    const id = await queue("backup");
    const asked = performance.now();
    const [first] = (await beat(agent)).commands;
    expect(first).toMatchObject({ id, attempt: 1 });
    const again = async (): Promise<Delivered | undefined> => (await beat(agent)).commands[0];
    const second = await until("it is delivered again", again);
    expect((performance.now() - asked) / 1000).toBeGreaterThan(3 * INTERVAL_S - 0.1);
    expect(second).toEqual({ ...first, attempt: 2 });
    expect(await until("it is delivered a third time", again)).toEqual({ ...first, attempt: 3 });
    expect((await beat(agent, ack(id))).commands).toEqual([]);
  });

  it("survives crashes of the service, and is not delivered again once it was acknowledged", async () => {
    const id = await queue("backup");
    await server.kill();
    await server.start();
    expect((await beat(agent)).commands).toMatchObject([{ id, attempt: 1 }]);
    await server.kill();
    await server.start();
    const second = await until("it is delivered again", async () => (await beat(agent)).commands[0]);
    expect(second).toMatchObject({ id, attempt: 2 });
    await beat(agent, ack(id));
    await server.kill();
    await server.start();
    expect((await beat(agent)).commands).toEqual([]);
  });

  it("goes to the agent of its source and to no other", async () => {
    const second = await attach(org);
    const stranger = await attach(await createOrganisation(server));
    const id = await queue("backup");
    expect((await beat(second)).commands).toEqual([]);
    expect((await beat(stranger)).commands).toEqual([]);
    for (const other of [second, stranger]) {
      const answer = await other.call("POST", "/v1/heartbeat", heartbeatBody(ack(id)));
      expect(answer.status).toBeLessThan(500);
    }
    expect((await beat(agent)).commands).toMatchObject([{ id, attempt: 1 }]);
    await beat(agent, ack(id));
  });

  it("is delivered once when heartbeats come at the same time", async () => {
    const id = await queue("backup");
    const answers = await Promise.all(Array.from({ length: 8 }, () => beat(agent)));
    expect(answers.flatMap(({ commands }) => commands)).toMatchObject([{ id, attempt: 1 }]);
    await beat(agent, ack(id));
  });

  it("is acknowledged without harm although it does not exist", async () => {
    const answer = await agent.call("POST", "/v1/heartbeat", heartbeatBody(ack(unknownId("cmd"))));
    if (answer.status !== 200) expectError(answer, "not_found", "invalid_request");
  });
});
