import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabaseSwitch, type DatabaseSwitch } from "../../../test/database-switch.ts";
import {
  attachBody,
  heartbeat,
  startTestService,
  type Replica,
  type TestAgent,
  type TestService,
} from "../../../test/service.ts";

let service: TestService;
let agent: TestAgent;
let database: DatabaseSwitch;
let replica: Replica;
beforeAll(async () => {
  service = await startTestService();
  agent = await service.attach(await service.addOrg());
  database = await openDatabaseSwitch(service.serviceConnection);
  replica = await service.listen(database.connection);
});
afterAll(async () => {
  await replica.close();
  await database.close();
  await service.close();
});

const event = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: {} };
const calls = () => {
  const { token } = agent;
  return [
    replica.call({ method: "POST", path: "/v1/heartbeat", token, json: heartbeat() }),
    replica.call({ method: "POST", path: "/v1/events", token, json: event, idempotencyKey: randomUUID() }),
    replica.call({ method: "GET", path: "/v1/log/head", token }),
    replica.call({ method: "POST", path: "/v1/backups/bkp_01jd4qk8x5e5r8v3n6z7m4c2qp/download-url", token }),
    replica.call({
      method: "POST",
      path: "/api/bootstrap/attach",
      token: `atk_${"0".repeat(10)}_${"A".repeat(32)}`,
      json: attachBody(),
    }),
    replica.call({ method: "POST", path: "/api/bootstrap/start", json: attachBody() }),
    replica.call({ method: "GET", path: `/api/bootstrap/atp_${"A".repeat(43)}` }),
  ];
};

test("without its database the service answers 503 with Retry-After to every call, and works again when it is back", async () => {
  expect((await Promise.all(calls())).map(({ status }) => status)).toEqual([
    200, 201, 200, 404, 401, 201, 404,
  ]);
  for (let round = 0; round < 3; round++) {
    database.off();
    for (const { status, json, headers, body } of await Promise.all(calls())) {
      expect([status, json["error"]], body.toString()).toEqual([503, "unavailable"]);
      expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    }
    database.on();
    expect((await Promise.all(calls())).map(({ status }) => status)).toEqual([
      200, 201, 200, 404, 401, 201, 404,
    ]);
  }
});

test("an answer that could not be stored is not remembered: the same key works when the database is back", async () => {
  const idempotencyKey = randomUUID();
  const call = {
    method: "POST",
    path: "/v1/heartbeat",
    token: agent.token,
    json: heartbeat(),
    idempotencyKey,
  };
  database.off();
  expect((await replica.call(call)).status).toBe(503);
  database.on();
  const answer = await replica.call(call);
  expect([answer.status, answer.headers["idempotent-replayed"]]).toEqual([200, undefined]);
});

test("API log rows of reads wait for the database", async () => {
  const post = (json: unknown) =>
    replica.call({ method: "POST", path: "/v1/events", token: agent.token, json });
  // Known a moment ago, and with hits of its limit reserved: then the refusal of its schema needs
  // no database, and its API log row does. Reservations grow, so that soon one is left over.
  let refused = await post(event);
  for (let tries = 0; tries < 10 && refused.status !== 400; tries += 1) {
    database.on();
    await post(event);
    database.off();
    refused = await post({});
  }
  expect(refused.status).toBe(400);
  await expect
    .poll(() => service.logger.has("rows of the API log could not be written; trying again"))
    .toBe(true);
  database.on();
  await expect
    .poll(
      async () =>
        (
          await service.pool.query("select status from api_logs where request_id = $1", [
            refused.headers["x-request-id"],
          ])
        ).rows,
    )
    .toEqual([{ status: 400 }]);
});
