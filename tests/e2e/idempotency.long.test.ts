import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  declareSource,
  heartbeatBody,
  writeEncryptedDump,
  put,
  registration,
  uploadUrl,
  type BackupRecord,
} from "./harness/backups.ts";
import { seal } from "./harness/dsse.ts";
import { expectError } from "./harness/errors.ts";
import { filesUnder } from "./harness/files.ts";
import { api, ownAddress, type Answer } from "./harness/https.ts";
import { ed25519 } from "./harness/keys.ts";
import {
  attach,
  attachBody,
  createOrganisation,
  type Attached,
  type Organisation,
  type WireAgent,
} from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";
import { restoreTestStatement, submit } from "./harness/statements.ts";

let server: Server;
let org: Organisation;
let agent: WireAgent;
let source: string;
let backup: BackupRecord;

beforeAll(async () => {
  server = await startServer();
  org = await createOrganisation(server);
  agent = await attach(org);
  source = await declareSource(agent);
  backup = await writeEncryptedDump(agent, source);
});
afterAll(() => server.remove());

/** A ULID: 26 characters of Crockford base32 in upper case. */
function ulid(): string {
  const random = Array.from(randomBytes(16), (byte) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ".charAt(byte & 31));
  return `01JD4QK8X5${random.join("")}`;
}

const event = (n: unknown = 0): Record<string, unknown> => ({
  kind: "backup_failed",
  occurred_at: "2026-11-21T08:00:00.000Z",
  detail: { n },
});

const post = (idempotencyKey: string, path: string, body: unknown, by = agent): Promise<Answer> =>
  by.call("POST", path, body, { idempotencyKey });

async function treeSize(): Promise<number> {
  return (await agent.call("GET", "/v1/log/head")).json<{ tree_size: number }>().tree_size;
}

function expectReplay(again: Answer, first: Answer): void {
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(again.status).toBe(first.status);
  expect(again.body.equals(first.body), `${again.body.toString()}\n≠\n${first.body.toString()}`).toBe(true);
}

describe("a request that repeats an idempotency key", () => {
  it.each<[string, () => [string, unknown] | Promise<[string, unknown]>, number]>([
    ["an event", () => ["/v1/events", event("replay")], 201],
    ["a heartbeat", () => ["/v1/heartbeat", heartbeatBody()], 200],
    [
      "an upload URL",
      () => ["/v1/backups/upload-url", { source_id: source, sha256: "ab".repeat(32), size_bytes: 5 }],
      201,
    ],
    ["a download URL", () => [`/v1/backups/${backup.id}/download-url`, {}], 200],
    [
      "a backup",
      async () => {
        const bytes = randomBytes(64);
        const upload = await uploadUrl(agent, source, bytes);
        await put(agent, upload, bytes);
        return ["/v1/backups", registration(upload, source)];
      },
      201,
    ],
    ["a receipt", () => ["/v1/receipts", seal(agent.signer, restoreTestStatement(agent, backup))], 201],
  ])("gets the same answer, byte for byte: %s", async (_what, make, status) => {
    const [path, body] = await make();
    const key = ulid();
    const first = await post(key, path, body);
    expect(first.status, first.body.toString()).toBe(status);
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    const size = await treeSize();
    for (let n = 0; n < 3; n++) expectReplay(await post(key, path, body), first);
    expect(await treeSize()).toBe(size);
  });

  it.each(["upper", "lower"] as const)(
    "may have a UUID or a ULID as its key, in %s case",
    async (letters) => {
      for (const key of [randomUUID(), ulid()]) {
        const spelt = letters === "upper" ? key.toUpperCase() : key.toLowerCase();
        const first = await post(spelt, "/v1/events", event());
        expect(first.status, first.body.toString()).toBe(201);
        expectReplay(await post(spelt, "/v1/events", event()), first);
      }
    },
  );

  it("gets the same answer after a crash of the service", async () => {
    const key = ulid();
    const statement = seal(agent.signer, restoreTestStatement(agent, backup));
    const first = await post(key, "/v1/receipts", statement);
    const eventKey = ulid();
    const firstEvent = await post(eventKey, "/v1/events", event("crash"));
    await server.kill();
    await server.start();
    expectReplay(await post(key, "/v1/receipts", statement), first);
    expectReplay(await post(eventKey, "/v1/events", event("crash")), firstEvent);
  });

  it("has one effect when it is sent many times at once", async () => {
    const size = await treeSize();
    const key = ulid();
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => post(key, "/v1/events", event("at once"))),
    );
    const done = answers.filter(({ status }) => status === 201);
    const fresh = done.filter(({ headers }) => headers["idempotent-replayed"] === undefined);
    expect(fresh).toHaveLength(1);
    expect(new Set(done.map(({ body }) => body.toString())).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectError(answer, "idempotency_in_progress");
      expect(answer.headers["retry-after"]).toBe("1");
    }
    expect(await treeSize()).toBe(size + 1);
  });

  it("attaches one agent, whose token is repeated without being kept in plain text", async () => {
    const key = ulid();
    const from = ownAddress();
    const body = attachBody(ed25519(), "attached-twice");
    const knock = (): Promise<Answer> =>
      api(server, {
        method: "POST",
        path: "/api/bootstrap/attach",
        token: org.authKey,
        json: body,
        idempotencyKey: key,
        from,
      });
    const size = await treeSize();
    const first = await knock();
    expect(first.status).toBe(201);
    expectReplay(await knock(), first);
    expect(await treeSize()).toBe(size + 1);
    const { api_token } = first.json<Attached>();
    await server.stop();
    for (const file of filesUnder(server.data)) {
      expect(readFileSync(file).includes(api_token), file).toBe(false);
    }
    await server.start();
    expectReplay(await knock(), first);
    const beat = await api(server, {
      method: "POST",
      path: "/v1/heartbeat",
      token: api_token,
      json: heartbeatBody(),
    });
    expect(beat.status).toBe(200);
  });

  it("starts one interactive attach", async () => {
    const key = ulid();
    const from = ownAddress();
    const json = attachBody(ed25519());
    const begin = (): Promise<Answer> =>
      api(server, { method: "POST", path: "/api/bootstrap/start", json, idempotencyKey: key, from });
    const first = await begin();
    expect(first.status).toBe(201);
    expectReplay(await begin(), first);
  });
});

describe("an idempotency key that was used", () => {
  it("is refused with another body", async () => {
    const key = ulid();
    const first = await post(key, "/v1/events", event(1));
    const size = await treeSize();
    expectError(await post(key, "/v1/events", event(2)), "idempotency_key_reused");
    expect(await treeSize()).toBe(size);
    expectReplay(await post(key, "/v1/events", event(1)), first);
  });

  it("is refused if only the white space of the body differs", async () => {
    const key = ulid();
    await post(key, "/v1/events", event(1));
    const spaced = await agent.call("POST", "/v1/events", undefined, {
      body: JSON.stringify(event(1), null, 1),
      headers: { "content-type": "application/json" },
      idempotencyKey: key,
    });
    expectError(spaced, "idempotency_key_reused");
  });

  it("never returns the answer of another path", async () => {
    const key = ulid();
    await post(key, "/v1/events", event(1));
    const answer = await post(key, "/v1/heartbeat", heartbeatBody());
    expect(answer.headers["idempotent-replayed"]).toBeUndefined();
    if (answer.status !== 200) expectError(answer, "idempotency_key_reused");
  });

  it("may be used by another agent too", async () => {
    const second = await attach(org, { from: ownAddress() });
    const key = ulid();
    const first = await post(key, "/v1/events", event(1));
    const other = await post(key, "/v1/events", event(1), second);
    expect(other.status).toBe(201);
    expect(other.headers["idempotent-replayed"]).toBeUndefined();
    expect(other.json()["event_id"]).not.toBe(first.json()["event_id"]);
  });
});

describe("a refusal of a request with an idempotency key", () => {
  it("is remembered if it comes from the handler", async () => {
    const bytes = randomBytes(100);
    const upload = await uploadUrl(agent, source, bytes);
    const body = registration(upload, source);
    const key = ulid();
    const first = await post(key, "/v1/backups", body);
    expectError(first, "object_missing");
    await put(agent, upload, bytes);
    expectReplay(await post(key, "/v1/backups", body), first);
    expect((await post(ulid(), "/v1/backups", body)).status).toBe(201);
  });

  it("is remembered with the request id of the first request if it refuses a receipt", async () => {
    const envelope = seal(ed25519(), restoreTestStatement(agent, backup));
    const key = ulid();
    const send = (): Promise<Answer> =>
      api(server, { method: "POST", path: "/v1/receipts", token: agent.token, json: envelope });
    expectError(await send(), "receipt_signature_invalid");
    const first = await submit(agent, envelope, key);
    expectError(first, "receipt_signature_invalid");
    expectReplay(await submit(agent, envelope, key), first);
  });

  it("is not remembered if the request was malformed, so a corrected one may use the key", async () => {
    for (const [body, code] of [
      ["{", "invalid_json"],
      [JSON.stringify({ ...event(), kind: 7 }), "invalid_request"],
    ] as const) {
      const key = ulid();
      const headers = { "content-type": "application/json" };
      expectError(
        await agent.call("POST", "/v1/events", undefined, { body, headers, idempotencyKey: key }),
        code,
      );
      const repaired = await post(key, "/v1/events", event());
      expect(repaired.status, repaired.body.toString()).toBe(201);
      expect(repaired.headers["idempotent-replayed"]).toBeUndefined();
    }
  });

  it("is not remembered if it was for a media type, a size or a credential", async () => {
    const key = ulid();
    const text = await agent.call("POST", "/v1/events", undefined, {
      body: "hello",
      headers: { "content-type": "text/plain" },
      idempotencyKey: key,
    });
    expectError(text, "unsupported_media_type");
    const large = JSON.stringify(event("x".repeat(1024 * 1024)));
    const tooLarge = await agent.call("POST", "/v1/events", undefined, {
      body: large,
      headers: { "content-type": "application/json" },
      idempotencyKey: key,
    });
    expectError(tooLarge, "payload_too_large");
    const nobody = await api(server, {
      method: "POST",
      path: "/v1/events",
      json: event(),
      token: `ats_${"A".repeat(43)}`,
      idempotencyKey: key,
    });
    expectError(nobody, "unauthenticated");
    expect((await post(key, "/v1/events", event())).status).toBe(201);
  });
});

describe("an idempotency key that is neither a ULID nor a UUID", () => {
  it.each([
    "1",
    "",
    "not-a-key",
    "01JD4QK8X5",
    `${"0".repeat(27)}`,
    "01JD4QK8X5IIIIIIIIIIIIIIII",
    "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
    `${"x".repeat(5000)}`,
  ])("is refused: %s", async (key) => {
    const size = await treeSize();
    expectError(await post(key, "/v1/events", event()), "invalid_idempotency_key");
    expect(await treeSize()).toBe(size);
  });
});
