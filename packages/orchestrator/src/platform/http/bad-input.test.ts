import { ERROR_STATUS, type ErrorCode, newId } from "@attestore/contract";
import fc from "fast-check";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress, type Answer, type Call } from "../../../test/client.ts";
import {
  attachBody,
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
} from "../../../test/service.ts";

/** Of each property, at each call. */
const TRIES = process.env["TEST_ALL"] === undefined ? 30 : 120;

/**
 * Walks every call that takes a body with input that is wrong in every way we could think of.
 * Whatever comes: an error of the contract, never a 5xx, and no row more or less in the database.
 */
let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let sourceId: string;
let backupId: string;
const unlimited = { limit: 1e6, window_s: 3600, counts: "calls", kept: "reserved" } as const;
beforeAll(async () => {
  service = await startTestService({
    rateLimits: {
      default: { ...unlimited, per: "credential" },
      bootstrap_start: { ...unlimited, per: "address" },
      attach_failures: { ...unlimited, counts: "failures", per: "address" },
    },
  });
  org = await service.addOrg();
  agent = await service.attach(org);
  const beat = await agent.post(
    "/v1/heartbeat",
    heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] }),
  );
  sourceId = (beat.json["sources"] as { id: string }[])[0]?.id ?? "";
  const upload = await service.upload(agent, sourceId, randomBytes(10));
  backupId = (await agent.post("/v1/backups", service.registration(upload, sourceId))).json["id"] as string;
});
afterAll(() => service.close());

type Body = Record<string, unknown>;

interface Endpoint {
  path: () => string;
  token: () => string | undefined;
  /** A body that has the right form. */
  good: () => Body;
  /** What a heartbeat sees and says has an effect even where it is empty. */
  alwaysEffective?: boolean;
}

const asAgent = (): string => agent.token;

const ENDPOINTS: Record<string, Endpoint> = {
  heartbeat: {
    path: () => "/v1/heartbeat",
    token: asAgent,
    good: () => heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] }),
  },
  "upload-url": {
    path: () => "/v1/backups/upload-url",
    token: asAgent,
    good: () => ({ source_id: sourceId, sha256: "ab".repeat(32), size_bytes: 10 }),
  },
  backups: {
    path: () => "/v1/backups",
    token: asAgent,
    good: () => ({
      upload_id: newId("upload"),
      source_id: sourceId,
      created_at: "2026-11-21T08:00:00.000Z",
      cipher: { name: "age-v1", recipients: ["age1x"] },
      source_metadata: {
        engine: "postgresql",
        engine_version: "15",
        dump_format: "x",
        schema_hash: "ab".repeat(32),
      },
    }),
  },
  receipts: {
    path: () => "/v1/receipts",
    token: asAgent,
    good: () => ({
      payloadType: "application/vnd.in-toto+json",
      payload: Buffer.from("{}").toString("base64"),
      signatures: [{ keyid: "x", sig: Buffer.alloc(64).toString("base64") }],
    }),
  },
  events: {
    path: () => "/v1/events",
    token: asAgent,
    good: () => ({
      kind: "backup_failed",
      occurred_at: "2026-11-21T08:00:00.000Z",
      detail: { reason: "disk" },
    }),
  },
  attach: { path: () => "/api/bootstrap/attach", token: () => org.authKey, good: () => attachBody() },
  start: { path: () => "/api/bootstrap/start", token: () => undefined, good: () => attachBody() },
};

const TABLES = [
  "agents",
  "agent_witnesses",
  "auth_keys",
  "bootstraps",
  "sources",
  "uploads",
  "commands",
  "backups",
  "log_leaves",
  "log_heads",
  "receipts",
  "events",
  "idempotency_keys",
];

async function rowCounts(): Promise<string> {
  const counts = TABLES.map((table) => `(select count(*) from ${table}) as ${table}`).join(", ");
  const { rows } = await service.pool.query(
    `select ${counts}, (select sum(uses + wrong_attempts) from auth_keys) as uses`,
  );
  return JSON.stringify(rows);
}

/** The contract's error at its status, with the request's id and nothing of our insides. */
function expectRefusal(answer: Answer, ...codes: ErrorCode[]): void {
  const told = `${answer.status} ${answer.body.toString().slice(0, 600)}`;
  expect(answer.status, told).toBeGreaterThanOrEqual(400);
  expect(answer.status, told).toBeLessThan(500);
  const { error, message, request_id, details } = answer.json;
  expect(ERROR_STATUS[error as ErrorCode], told).toBe(answer.status);
  if (codes.length > 0) expect(codes, told).toContain(error);
  expect(message, told).toEqual(expect.any(String));
  expect(request_id, told).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(answer.headers["x-request-id"]).toBe(request_id);
  expect(details, told).toEqual(expect.any(Object));
  expect(told).not.toMatch(/\bat .*\.[jt]s|node_modules|select |insert into|violates|\/packages\//);
}

describe.each(Object.entries(ENDPOINTS))("POST %s", (name, endpoint) => {
  const json = { "content-type": "application/json" };
  const send = (
    body: string | Uint8Array,
    headers: Call["headers"] = json,
    more: Partial<Call> = {},
  ): Promise<Answer> =>
    service.call({
      method: "POST",
      path: endpoint.path(),
      token: endpoint.token(),
      body,
      headers,
      from: FROM,
      ...more,
    });
  const FROM = ownAddress();
  const refused = async (sent: Promise<Answer>, ...codes: ErrorCode[]): Promise<void> => {
    const before = await rowCounts();
    expectRefusal(await sent, ...codes);
    expect(await rowCounts()).toBe(before);
  };

  test.each<[string, string | Uint8Array]>([
    ["nothing", ""],
    ["white space", " \n\t"],
    ["a zero byte", Buffer.from([0])],
    ["a half", '{"a":'],
    ["two values", "{}{}"],
    ["a comment", "{/**/}"],
    ["NaN", '{"a":NaN}'],
    ["a byte order mark", "\ufeff{}"],
    ["UTF-16", Buffer.from("{}", "utf16le")],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
    ["an overlong encoding", Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
    ["endless nesting", "[".repeat(200_000)],
    ["sixty thousand levels", `${"[".repeat(60_000)}${"]".repeat(60_000)}`],
    ["90,000 names of one object", `{${Array.from({ length: 90_000 }, (_, n) => `"k${n}":1`).join()}`],
    ["__proto__", '{"__proto__":{"x":1}}'],
    ["constructor.prototype", '{"constructor":{"prototype":{"x":1}}}'],
    ["NUL in a text", '{"a":"\\u0000"}'],
    ["half a surrogate pair", '{"a":"\\ud800"}'],
    ["NUL in a name", '{"a\\u0000":1}'],
    ["a number beyond all", '{"a":1e999}'],
    ["a member twice", '{"a":1,"a":1}'],
    ["a member twice, once with an escape", '{"a":1,"\\u0061":1}'],
    ["a member twice, further inside", '{"a":[{"b":1,"b":2}]}'],
  ])("refuses %s as JSON", (_what, body) =>
    refused(
      send(body),
      ...(name === "receipts" || endpoint.token() === undefined
        ? (["invalid_json", "payload_too_large"] as const)
        : (["invalid_json"] as const)),
    ),
  );

  test.each(["null", "[]", "0", "true", '"x"', "{}", "[{}]", '{"a":1}'])("refuses %s", (body) =>
    refused(send(body), "invalid_request"),
  );

  test("refuses a body without each of its fields, and with one that it does not know", async () => {
    const good = endpoint.good();
    for (const field of Object.keys(good)) {
      const { [field]: _left, ...rest } = good;
      const answer = await send(JSON.stringify(rest));
      expectRefusal(answer, "invalid_request");
      expect(JSON.stringify(answer.json["details"])).toContain(field);
    }
    for (const field of ["extra", "id", "constructor", "toString", "hasOwnProperty", ""])
      await refused(send(JSON.stringify({ ...good, [field]: "x" })), "invalid_request");
  });

  test("refuses each of its fields twice, though both say the same", async () => {
    const good = endpoint.good();
    for (const [field, value] of Object.entries(good)) {
      const twice = JSON.stringify(good).replace("{", `{${JSON.stringify(field)}:${JSON.stringify(value)},`);
      await refused(send(twice), "invalid_json");
    }
  });

  test("coerces nothing: every field of every other type", async () => {
    const good = endpoint.good();
    const before = await rowCounts();
    for (const [field, value] of Object.entries(good))
      for (const other of [null, 1, -1, 1.5, 1e300, true, "", " ", "1", [], [[]], [null], {}, { a: 1 }])
        if (typeof other !== typeof value || Array.isArray(other) !== Array.isArray(value))
          expectRefusal(
            await send(JSON.stringify({ ...good, [field]: other })),
            "invalid_request",
            "statement_invalid",
          );
    expect(await rowCounts()).toBe(before);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "x",
    "application/json; charset=utf-16",
    "",
  ])("refuses the media type %j", (type) =>
    refused(send(JSON.stringify(endpoint.good()), { "content-type": type }), "unsupported_media_type"),
  );

  test("refuses a body without a media type, and one in a content coding", async () => {
    await refused(send(JSON.stringify(endpoint.good()), {}), "unsupported_media_type");
    await refused(
      send(JSON.stringify(endpoint.good()), { ...json, "content-encoding": "gzip" }),
      "unsupported_media_type",
    );
  });

  test("refuses more than its limit, announced or not", async () => {
    const large = `{"x":"${"x".repeat(name === "receipts" ? 256 * 1024 : 1024 * 1024)}"}`;
    await refused(send(large), "payload_too_large");
    await refused(send(large, { ...json, "transfer-encoding": "chunked" }), "payload_too_large");
  });

  test("refuses a query", () =>
    refused(
      send(JSON.stringify(endpoint.good()), json, { path: `${endpoint.path()}?x=1` }),
      "invalid_request",
    ));

  test("refuses strange headers, or doesn't mind them", async () => {
    const before = await rowCounts();
    for (const headers of [
      { authorization: "Bearer" },
      { authorization: "Bearer \u00ff" },
      { authorization: `Bearer ${"x".repeat(5000)}` },
      { authorization: "Basic eDp5" },
      { authorization: `Bearer ats_${"A".repeat(43)}, Bearer x` },
    ]) {
      // An interactive attach needs no credential and looks at none.
      if (name === "start") continue;
      expectRefusal(await send(JSON.stringify(endpoint.good()), { ...json, ...headers }), "unauthenticated");
    }
    for (const headers of [
      { "idempotency-key": "\u00ff" },
      { "idempotency-key": ["01JD4QK8X5E5R8V3N6Z7M4C2QP", "01JD4QK8X5E5R8V3N6Z7M4C2QP"] },
    ])
      expectRefusal(
        await send(JSON.stringify(endpoint.good()), { ...json, ...headers }),
        "invalid_idempotency_key",
      );
    expect(await rowCounts()).toBe(before);
  });

  test("answers any JSON and any bytes with an error of the contract, or takes it", async () => {
    const fields = Object.keys(endpoint.good());
    const mutated = fc
      .tuple(fc.constantFrom(...fields, "extra"), fc.jsonValue({ maxDepth: 5 }), fc.boolean())
      .map(([field, value, remove]) =>
        JSON.stringify({ ...endpoint.good(), [field]: remove ? undefined : value }),
      );
    const anything = fc.oneof(
      mutated,
      fc.json(),
      fc.string({ unit: "binary" }),
      fc.uint8Array({ maxLength: 300 }),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        const answer = await send(body);
        if (answer.status >= 300) expectRefusal(answer);
      }),
      { numRuns: TRIES },
    );
  });

  test("answers any text in its fields, whatever PostgreSQL or a terminal might think of it", async () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.constantFrom(
        "\u0000",
        "a\u0000b",
        "\ud800",
        "\udfff\ud800",
        "\u202e",
        "'; drop table orgs; --",
        "\u001b[2J",
        "\uffff",
      ),
    );
    const good = endpoint.good();
    const fields = Object.keys(good).filter((field) => typeof good[field] === "string");
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), texts, async (field, value) => {
        const answer = await send(JSON.stringify({ ...endpoint.good(), [field]: value }));
        if (answer.status >= 300) expectRefusal(answer);
      }),
      { numRuns: TRIES },
    );
  });
});

test("the service refuses a receipt that two parsers of JSON would read differently, and any other body as they agree", async () => {
  const body = JSON.stringify(ENDPOINTS["receipts"]?.good());
  const twice = `{"payloadType":"text/plain",${body.slice(1)}`;
  const headers = { "content-type": "application/json" };
  const send = (path: string, text: string) =>
    service.call({ method: "POST", path, token: agent.token, headers, body: text });
  const refused = await send("/v1/receipts", twice);
  expect([refused.status, refused.json["error"]]).toEqual([400, "invalid_json"]);
  expect((await send("/v1/receipts", body)).json["error"]).not.toBe("invalid_json");
});

test("the service reports up to twenty problems of a body, and only the first of one with very many values", async () => {
  const wrong = async (length: number) => {
    const sources = Array.from({ length }, () => ({}));
    const answer = await agent.post("/v1/heartbeat", { ...heartbeat(), sources, acks: 0, uptime_s: "" });
    expectRefusal(answer, "invalid_request");
    return (answer.json["details"] as { issues: { path: string }[] }).issues.map(({ path }) => path);
  };
  expect(await wrong(0)).toEqual(["/uptime_s", "/acks"]);
  expect(await wrong(4_900)).toHaveLength(20);
  expect(await wrong(5_000)).toHaveLength(1);
  // As many as a body has room for: none of them is written down.
  expect(await wrong(300_000)).toHaveLength(1);
});

describe("a backup's download URL", () => {
  test.each([
    "x",
    "bkp_",
    "src_01jd4qk8x5e5r8v3n6z7m4c2qp",
    "bkp_81jd4qk8x5e5r8v3n6z7m4c2qp",
    "BKP_01JD4QK8X5E5R8V3N6Z7M4C2QP",
    "%00",
    "%zz",
    "%ff",
    "..%2f..",
    "'",
    "a".repeat(101),
  ])("is not found under %j", async (id) =>
    expectRefusal(await agent.post(`/v1/backups/${id}/download-url`), "not_found"),
  );

  test("takes no body, or an empty object", async () => {
    for (const body of ["", "{}"])
      expect(
        (
          await agent.post(`/v1/backups/${backupId}/download-url`, undefined, {
            body,
            headers: { "content-type": "application/json" },
          })
        ).status,
      ).toBe(200);
    expect((await agent.post(`/v1/backups/${backupId}/download-url`)).status).toBe(200);
    for (const json of [{ a: 1 }, [], "x", 1])
      expectRefusal(await agent.post(`/v1/backups/${backupId}/download-url`, json), "invalid_request");
  });
});

describe("reading", () => {
  test.each([
    "/v1/log/head?x=1",
    "/v1/log/proof",
    "/v1/log/proof?leaf=0",
    "/v1/log/proof?leaf=0&tree_size=1&x=1",
    "/v1/log/proof?leaf=-1&tree_size=1",
    "/v1/log/proof?leaf=0x1&tree_size=1",
    "/v1/log/proof?leaf=0&leaf=1&tree_size=1",
    "/v1/log/proof?leaf=0&tree_size=01",
    "/v1/log/proof?leaf=0&tree_size=1e3",
    "/v1/log/proof?leaf=%00&tree_size=1",
    "/v1/log/proof?leaf=0&tree_size=1&from=0",
    "/v1/log/proof?__proto__=1&leaf=0&tree_size=1",
  ])("%s is an invalid request", async (path) => expectRefusal(await agent.get(path), "invalid_request"));

  test.each([
    "/v1/log/proof?leaf=9007199254740993&tree_size=9007199254740993",
    "/v1/log/proof?leaf=999999&tree_size=1000000",
    "/v1/log/proof?leaf=0&tree_size=9999999999999999",
  ])("%s is no defect", async (path) => expectRefusal(await agent.get(path)));

  test.each([
    "atp_x",
    `atp_${"A".repeat(42)}`,
    `atp_${"A".repeat(44)}`,
    `ats_${"A".repeat(43)}`,
    "%00",
    `atp_${"A".repeat(43)}`,
  ])("a poll with %j is not found", async (token) =>
    expectRefusal(await service.call({ method: "GET", path: `/api/bootstrap/${token}` }), "not_found"),
  );
});

test("none of these requests was logged as a defect", () => {
  const errors = service.logger.lines.filter(({ level }) => level === "error");
  expect(errors).toEqual([]);
});
