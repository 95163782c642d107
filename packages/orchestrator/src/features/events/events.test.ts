import { newId } from "@attestore/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseLeaf } from "@attestore/proof";
import { signedEventBody } from "../../../test/log/signed-event.ts";
import {
  heartbeat,
  newKeyPair,
  startTestService,
  type TestAgent,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let agent: TestAgent;
let other: TestAgent;
let owner: TestUser;
let sourceId: string;

beforeAll(async () => {
  service = await startTestService();
  const org = await service.addOrg();
  owner = await service.signIn(org);
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

test("an event about another agent's command, or about a missing record, is refused and changes nothing", async () => {
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
  "%s is not a valid time",
  async (occurred_at) => {
    const answer = await agent.post("/v1/events", event({ occurred_at }));
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
  },
);

describe("an event that its agent signed", () => {
  const told = () => ({
    kind: "backup_failed",
    source_id: sourceId,
    occurred_at: "2026-11-21T08:00:00.000Z",
    detail: { reason: "no space left", n: Math.random() },
  });

  test("is in the log by what was signed, with the signature in its leaf, and its record has the envelope", async () => {
    const { body, sha256 } = signedEventBody(agent, told());
    const answer = await agent.post("/v1/events", body);
    expect(answer.status, String(answer.body)).toBe(201);
    expect(answer.json["leaf"]).toMatchObject({
      actor_id: agent.id,
      body_sha256: sha256,
      signature: body.envelope.signatures[0].sig,
    });
    const { rows } = await service.pool.query<{ leaf: Buffer }>(
      "select leaf from log_leaves where org_id = $1 and log_index = $2",
      [agent.orgId, answer.json["log_index"]],
    );
    expect(parseLeaf(rows[0]?.leaf ?? Buffer.alloc(0)).body_sha256).toBe(sha256);
    const record = (await owner.get(`/api/events/${String(answer.json["event_id"])}`)).json;
    expect(record).toMatchObject({ detail: body.detail, envelope: body.envelope });
  });

  test("is recognised by its envelope, one after the other and at once", async () => {
    const { body } = signedEventBody(agent, told());
    const first = await agent.post("/v1/events", body);
    const again = await agent.post("/v1/events", body);
    expect([again.status, again.json["event_id"]]).toEqual([201, first.json["event_id"]]);
    const { body: other } = signedEventBody(agent, told());
    const answers = await Promise.all(Array.from({ length: 8 }, () => agent.post("/v1/events", other)));
    expect(new Set(answers.map(({ json }) => json["event_id"])).size).toBe(1);
  });

  test("is refused changed, signed by another key, of another agent, and as no statement", async () => {
    const { body } = signedEventBody(agent, told());
    const stranger = { ...agent, ...newKeyPair() };
    const notAStatement = {
      ...body.envelope,
      payload: Buffer.from("{}").toString("base64"),
    };
    const { rows: before } = await service.pool.query("select count(*) from events");
    for (const [what, submitted, code] of [
      ["detail", { ...body, detail: { reason: "another" } }, "statement_mismatch"],
      ["kind", { ...body, kind: "restore_failed" }, "statement_mismatch"],
      ["time", { ...body, occurred_at: "2026-11-21T08:00:00.001Z" }, "statement_mismatch"],
      ["source", { ...body, source_id: undefined }, "statement_mismatch"],
      ["key", signedEventBody(stranger, told()).body, "receipt_signature_invalid"],
      ["agent", signedEventBody(agent, told(), { agent_id: other.id }).body, "statement_mismatch"],
      ["organisation", signedEventBody(agent, told(), { org_id: newId("org") }).body, "statement_mismatch"],
      ["payload", { ...body, envelope: notAStatement }, "receipt_signature_invalid"],
    ] as const) {
      const answer = await agent.post("/v1/events", submitted);
      expect([answer.status, answer.json["error"]], what).toEqual([422, code]);
    }
    expect((await other.post("/v1/events", body)).status).toBe(422);
    const { rows: after } = await service.pool.query("select count(*) from events");
    expect(after).toEqual(before);
  });
});
