import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../../../test/client.ts";
import {
  attachBody,
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
  service = await startTestService({
    rateLimits: {
      bootstrap_start: { limit: 1000, window_s: 3600, per: "address", counts: "calls", kept: "counted" },
    },
  });
  org = await service.addOrg();
  agent = await service.attach(org);
  const beat = await agent.post(
    "/v1/heartbeat",
    heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] }),
  );
  sourceId = (beat.json["sources"] as { id: string }[])[0]?.id ?? "";
});
afterAll(() => service.close());

const uploadBody = (): object => ({
  source_id: sourceId,
  sha256: randomBytes(32).toString("hex"),
  size_bytes: 10,
});

async function count(table: string): Promise<number> {
  const { rows } = await service.pool.query<{ n: number }>(`select count(*) as n from ${table}`);
  return rows[0]?.n ?? -1;
}

function expectReplay(again: Answer, first: Answer): void {
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(again.status).toBe(first.status);
  expect(again.body.equals(first.body)).toBe(true);
}

describe("a repeated key", () => {
  test("is answered as the first time, byte for byte, with one effect and one API log row", async () => {
    const before = await count("uploads");
    const idempotencyKey = randomUUID();
    const body = uploadBody();
    const first = await agent.post("/v1/backups/upload-url", body, { idempotencyKey });
    expect(first.status).toBe(201);
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    const second = await agent.post("/v1/backups/upload-url", body, {
      idempotencyKey: idempotencyKey.toUpperCase(),
    });
    expectReplay(second, first);
    expect(second.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
    expect(await count("uploads")).toBe(before + 1);
  });

  test("has one effect when 20 come at the same time, on two replicas", async () => {
    const replica = await service.listen();
    for (let round = 0; round < 5; round++) {
      const before = await count("uploads");
      const idempotencyKey = randomUUID();
      const json = uploadBody();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? service : replica).call({
            method: "POST",
            path: "/v1/backups/upload-url",
            token: agent.token,
            json,
            idempotencyKey,
          }),
        ),
      );
      const done = answers.filter(({ status }) => status === 201);
      expect(done.filter(({ headers }) => headers["idempotent-replayed"] === undefined)).toHaveLength(1);
      expect(new Set(done.map(({ body }) => body.toString())).size).toBe(1);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expect([answer.status, answer.json["error"]]).toEqual([409, "idempotency_in_progress"]);
        expect(answer.headers["retry-after"]).toBe("1");
      }
      expect(await count("uploads")).toBe(before + 1);
    }
    await replica.close();
  });

  test("is refused with other bytes, be it white space alone", async () => {
    const idempotencyKey = randomUUID();
    const body = uploadBody();
    await agent.post("/v1/backups/upload-url", body, { idempotencyKey });
    const spaced = { body: JSON.stringify(body, null, 1), headers: { "content-type": "application/json" } };
    const answer = await agent.post("/v1/backups/upload-url", undefined, { idempotencyKey, ...spaced });
    expect([answer.status, answer.json["error"]]).toEqual([409, "idempotency_key_reused"]);
  });

  test("means another request on another path and to another credential", async () => {
    const idempotencyKey = randomUUID();
    const other = await service.attach(org);
    const answers = [
      await agent.post("/v1/heartbeat", heartbeat(), { idempotencyKey }),
      await other.post("/v1/heartbeat", heartbeat(), { idempotencyKey }),
      await agent.post("/v1/backups/upload-url", uploadBody(), { idempotencyKey }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201]);
    for (const { headers } of answers) expect(headers["idempotent-replayed"]).toBeUndefined();
  });

  test("is new again when its 24 hours are over", async () => {
    const idempotencyKey = randomUUID();
    const body = uploadBody();
    const first = await agent.post("/v1/backups/upload-url", body, { idempotencyKey });
    await service.pool.query("update idempotency_keys set expires_at = now()");
    const second = await agent.post("/v1/backups/upload-url", body, { idempotencyKey });
    expect(second.headers["idempotent-replayed"]).toBeUndefined();
    expect(second.json["upload_id"]).not.toBe(first.json["upload_id"]);
    expectReplay(await agent.post("/v1/backups/upload-url", body, { idempotencyKey }), second);
  });
});

describe("the handler's answer", () => {
  test("is remembered with its error, which still names its own request", async () => {
    const upload = await agent.post("/v1/backups/upload-url", uploadBody());
    const registration = {
      upload_id: upload.json["upload_id"],
      source_id: sourceId,
      created_at: "2026-11-21T08:00:00.000Z",
      cipher: { name: "age-v1", recipients: ["age1x"] },
      source_metadata: {
        engine: "postgresql",
        engine_version: "15",
        dump_format: "custom",
        schema_hash: "ab".repeat(32),
      },
    };
    const idempotencyKey = randomUUID();
    const first = await agent.post("/v1/backups", registration, { idempotencyKey });
    expect([first.status, first.json["error"]]).toEqual([422, "object_missing"]);
    const again = await agent.post("/v1/backups", registration, { idempotencyKey });
    expectReplay(again, first);
    expect(again.headers["x-request-id"]).toBe(first.json["request_id"]);
  });

  test("with a secret is kept sealed", async () => {
    for (const [path, token, field] of [
      ["/api/bootstrap/attach", org.authKey, "api_token"],
      ["/api/bootstrap/start", undefined, "poll_token"],
    ] as const) {
      const idempotencyKey = randomUUID();
      const call = { method: "POST", path, token, json: attachBody(), idempotencyKey };
      const first = await service.call(call);
      expect(first.status).toBe(201);
      expectReplay(await service.call(call), first);
      const { rows } = await service.pool.query<{ body: Buffer | null; sealed: boolean }>(
        "select body, sealed from idempotency_keys",
      );
      expect(rows.some(({ sealed }) => sealed)).toBe(true);
      for (const { body } of rows) expect(body?.includes(first.json[field] as string) ?? false).toBe(false);
    }
  });
});

describe("a refusal before the handler", () => {
  test("is not remembered: the repaired request may use its key", async () => {
    const idempotencyKey = randomUUID();
    const headers = { "content-type": "application/json" };
    const refusals = [
      await agent.post("/v1/backups/upload-url", undefined, { idempotencyKey, body: "{", headers }),
      await agent.post("/v1/backups/upload-url", { nothing: 1 }, { idempotencyKey }),
      await agent.post("/v1/backups/upload-url", undefined, {
        idempotencyKey,
        body: "x",
        headers: { "content-type": "text/plain" },
      }),
      await agent.post("/v1/backups/upload-url", undefined, {
        idempotencyKey,
        body: "x".repeat(2 ** 20 + 1),
        headers,
      }),
      await agent.post("/v1/backups/upload-url", uploadBody(), {
        idempotencyKey,
        token: `ats_${"A".repeat(43)}`,
      }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 415, 413, 401]);
    const repaired = await agent.post("/v1/backups/upload-url", uploadBody(), { idempotencyKey });
    expect(repaired.status).toBe(201);
    expect(repaired.headers["idempotent-replayed"]).toBeUndefined();
  });

  test("a handler's 400 neither", async () => {
    const idempotencyKey = randomUUID();
    const call = { method: "POST", path: "/api/bootstrap/attach", token: org.authKey, idempotencyKey };
    const refused = await service.call({ ...call, json: attachBody(Buffer.alloc(32).toString("base64")) });
    expect(refused.status).toBe(400);
    expect((await service.call({ ...call, json: attachBody() })).status).toBe(201);
  });

  test.each([
    "",
    "1",
    "no-key",
    "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
    "01JD4QK8X5IIIIIIIIIIIIIIII",
    `${randomUUID()} `.repeat(2),
  ])("a key that is neither ULID nor UUID: %j", async (idempotencyKey) => {
    const answer = await agent.post("/v1/heartbeat", heartbeat(), { idempotencyKey });
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_idempotency_key"]);
  });
});

test("the effect, the remembered answer and the API log row commit together or not at all", async () => {
  const before = [await count("uploads"), await count("idempotency_keys"), await count("api_logs")];
  // The API log row is written last: where it cannot be, nothing of the request may stay.
  await service.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse before insert on api_logs for each row when (new.route = '/v1/backups/upload-url')
      execute function refuse()`);
  service.logger.expected.add("a request failed");
  const answer = await agent.post("/v1/backups/upload-url", uploadBody(), { idempotencyKey: randomUUID() });
  await service.pool.query("drop trigger refuse on api_logs");
  expect([answer.status, answer.json["error"]]).toEqual([500, "internal"]);
  expect(answer.body.toString()).not.toContain("refused");
  expect([await count("uploads"), await count("idempotency_keys")]).toEqual(before.slice(0, 2));
});

test("a refusal of the handler undoes what the handler wrote before it", async () => {
  // A registration links its command and then finds that another one was first with the same
  // upload.
  const upload = await service.upload(agent, sourceId, randomBytes(10));
  const commands = await Promise.all(
    Array.from({ length: 6 }, () => service.queueCommand(sourceId, "backup")),
  );
  const answers = await Promise.all(
    commands.map((command_id) =>
      agent.post(
        "/v1/backups",
        { ...service.registration(upload, sourceId), command_id },
        { idempotencyKey: randomUUID() },
      ),
    ),
  );
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409]);
  const { rows } = await service.pool.query<{ outcome: object }>(
    "select outcome from commands where id = any($1) order by outcome <> '{}'",
    [commands],
  );
  const made = answers.find(({ status }) => status === 201)?.json["id"];
  expect(rows.map(({ outcome }) => outcome)).toEqual([{}, {}, {}, {}, {}, { backup_id: made }]);
});
