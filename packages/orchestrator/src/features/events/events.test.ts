import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeat, startTestService, type TestAgent, type TestService } from "../../../test/service.ts";

let service: TestService;
let agent: TestAgent;
let other: TestAgent;
let sourceId: string;

beforeAll(async () => {
  service = await startTestService();
  const org = await service.addOrg();
  agent = await service.attach(org);
  other = await service.attach(org);
  const answer = await agent.post(
    "/v1/heartbeat",
    heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] }),
  );
  sourceId = (answer.json["sources"] as { id: string }[])[0]?.id ?? "";
});
afterAll(() => service.close());

const event = (more: object): object => ({
  kind: "backup_failed",
  occurred_at: "2026-11-21T08:00:00.000Z",
  detail: { reason: "no space left" },
  ...more,
});

async function outcome(commandId: string): Promise<unknown> {
  const { rows } = await service.pool.query<{ outcome: unknown }>(
    "select outcome from commands where id = $1",
    [commandId],
  );
  return rows[0]?.outcome;
}

test("an event is stored with its place, and the command that it answers names it", async () => {
  const commandId = await service.queueCommand(sourceId, "backup");
  const answer = await agent.post("/v1/events", event({ source_id: sourceId, command_id: commandId }));
  expect(answer.status).toBe(201);
  const { event_id, log_index } = answer.json;
  const { rows } = await service.pool.query("select * from events where id = $1", [event_id]);
  expect(rows).toMatchObject([{ kind: "backup_failed", source_id: sourceId, actor_id: agent.id, log_index }]);
  expect(await outcome(commandId)).toEqual({ event_id });
});

test("an event about another agent's command, or about what is not there, is refused and changes nothing", async () => {
  const commandId = await service.queueCommand(sourceId, "backup");
  for (const more of [
    { command_id: commandId },
    { command_id: newId("command") },
    { source_id: newId("source") },
    { backup_id: newId("backup") },
  ]) {
    const answer = await other.post("/v1/events", event(more));
    expect([answer.status, answer.json["error"]], JSON.stringify(more)).toEqual([404, "not_found"]);
  }
  expect(await outcome(commandId)).toEqual({});
});

test.each(["2026-02-30T08:00:00.000Z", "0000-01-01T00:00:00.000Z"])(
  "%s is no moment",
  async (occurred_at) => {
    const answer = await agent.post("/v1/events", event({ occurred_at }));
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
  },
);
