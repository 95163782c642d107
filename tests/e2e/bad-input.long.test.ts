import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  declareSource,
  heartbeatBody,
  writeEncryptedDump,
  put,
  registration,
  uploadUrl,
} from "./harness/backups.ts";
import { seal } from "./harness/dsse.ts";
import { CONTRACT_ERRORS, expectError, expectIssues, expectRefusal } from "./harness/errors.ts";
import { api, ownAddress, type Answer } from "./harness/https.ts";
import { ed25519 } from "./harness/keys.ts";
import {
  attach,
  attachBody,
  createOrganisation,
  type Organisation,
  type WireAgent,
} from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";
import { restoreTestStatement } from "./harness/statements.ts";

/** Of each property, at each endpoint. */
const TRIES = process.env["TEST_ALL"] === undefined ? 16 : 60;

let server: Server;
let org: Organisation;
let watcher: WireAgent;

beforeAll(async () => {
  server = await startServer();
  org = await createOrganisation(server);
  watcher = await attach(org);
});
afterAll(() => server.remove());

type Body = Record<string, unknown>;

/** A call that takes a body, with one that it accepts. */
interface Endpoint {
  name: string;
  path: string;
  /** Who calls: an agent's token, the auth key, or nobody. */
  token: string | undefined;
  good: Body;
  /** The fields that it cannot do without. */
  required: string[];
}

const ENDPOINTS = {
  heartbeat: async (): Promise<Endpoint> => ({
    name: "heartbeat",
    path: "/v1/heartbeat",
    token: (await attach(org)).token,
    good: heartbeatBody({ sources: [{ slug: "orders-db", engine: "postgresql" }] }),
    required: ["agent_version", "hostname", "platform", "uptime_s", "sources", "acks"],
  }),
  "upload-url": async () => {
    const agent = await attach(org);
    const good = { source_id: await declareSource(agent), sha256: "ab".repeat(32), size_bytes: 10 };
    return {
      name: "upload-url",
      path: "/v1/backups/upload-url",
      token: agent.token,
      good,
      required: Object.keys(good),
    };
  },
  backups: async () => {
    const agent = await attach(org);
    const source = await declareSource(agent);
    const bytes = randomBytes(40);
    const upload = await uploadUrl(agent, source, bytes);
    await put(agent, upload, bytes);
    const good = registration(upload, source);
    return { name: "backups", path: "/v1/backups", token: agent.token, good, required: Object.keys(good) };
  },
  receipts: async () => {
    const agent = await attach(org);
    const backup = await writeEncryptedDump(agent, await declareSource(agent));
    const good = { ...seal(agent.signer, restoreTestStatement(agent, backup)) };
    return { name: "receipts", path: "/v1/receipts", token: agent.token, good, required: Object.keys(good) };
  },
  events: async () => {
    const agent = await attach(org);
    const good = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: { n: 1 } };
    return { name: "events", path: "/v1/events", token: agent.token, good, required: Object.keys(good) };
  },
  attach: async () => {
    const good = attachBody(ed25519());
    return {
      name: "attach",
      path: "/api/bootstrap/attach",
      token: org.authKey,
      good,
      required: Object.keys(good),
    };
  },
  start: async () => {
    const good = attachBody(ed25519());
    return {
      name: "start",
      path: "/api/bootstrap/start",
      token: undefined,
      good,
      required: Object.keys(good),
    };
  },
} satisfies Record<string, () => Promise<Endpoint>>;

async function treeSize(): Promise<number> {
  return (await watcher.call("GET", "/v1/log/head")).json<{ tree_size: number }>().tree_size;
}

describe.each(Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[])("POST %s", (name) => {
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await ENDPOINTS[name]();
  });

  const send = (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
    api(server, {
      method: "POST",
      path: endpoint.path,
      token: endpoint.token,
      body,
      headers: { "content-type": "application/json", ...headers },
      from: ownAddress(),
    });
  const sendJson = (value: unknown): Promise<Answer> => send(JSON.stringify(value));

  it.each<[string, string | Uint8Array]>([
    ["nothing at all", ""],
    ["blanks", "  \n"],
    ["half an object", '{"kind":'],
    ["two objects", "{}{}"],
    ["single quotes", "{'a':1}"],
    ["a trailing comma", '{"a":1,}'],
    ["NaN", '{"a":NaN}'],
    ["a byte that is not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["UTF-16", Buffer.from('{"a":1}', "utf16le")],
    ["a zero byte", Buffer.from([0])],
    ["endless nesting", "[".repeat(8_000)],
  ])("refuses %s as JSON", async (_what, body) => {
    expectError(await send(body), "invalid_json");
  });

  it.each<[string, string]>([
    ["null", "null"],
    ["a list", "[]"],
    ["text", '"{}"'],
    ["a number", "12"],
    ["true", "true"],
    ["an empty object", "{}"],
  ])("refuses %s", async (_what, body) => {
    const answer = await send(body);
    expectError(answer, "invalid_request");
    expectIssues(answer);
  });

  it("refuses a body that lacks any field it needs, and names the field", async () => {
    for (const field of endpoint.required) {
      const answer = await sendJson({ ...endpoint.good, [field]: undefined });
      expectError(answer, "invalid_request");
      expectIssues(answer);
      expect(answer.body.toString()).toContain(field);
    }
  });

  it("refuses every field of another type: it converts nothing", async () => {
    for (const field of endpoint.required) {
      for (const value of [null, 0, -1, 1.5, 1e308, true, "", "\u0000", " ", "12", [], [[]], {}, { a: 1 }]) {
        if (JSON.stringify(value) === JSON.stringify(endpoint.good[field])) continue;
        if (typeof value === typeof endpoint.good[field] && name !== "upload-url") {
          // Some texts, objects and numbers are right for their field; that they are not a defect
          // is what counts.
          if (JSON.stringify(value) !== '""' && JSON.stringify(value) !== '"\\u0000"') continue;
        }
        const answer = await sendJson({ ...endpoint.good, [field]: value });
        expectRefusal(answer, `${field} = ${JSON.stringify(value)}`);
      }
    }
  });

  it("refuses a field that it does not know", async () => {
    for (const field of ["extra", "id", "org_id", "constructor", "toString", ""]) {
      const answer = await sendJson({ ...endpoint.good, [field]: "x" });
      expectError(answer, "invalid_request");
      expectIssues(answer);
    }
  });

  it("refuses __proto__ and constructor.prototype as fields", async () => {
    const text = JSON.stringify(endpoint.good);
    for (const field of ['"__proto__":{"admin":true}', '"constructor":{"prototype":{"admin":true}}']) {
      expectError(await send(`{${field},${text.slice(1)}`), "invalid_request", "invalid_json");
    }
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "application/jsonp",
    "x",
  ])("refuses %s", async (type) => {
    expectError(
      await send(JSON.stringify(endpoint.good), { "content-type": type }),
      "unsupported_media_type",
    );
  });

  it("refuses a body without a media type", async () => {
    const answer = await api(server, {
      method: "POST",
      path: endpoint.path,
      token: endpoint.token,
      body: JSON.stringify(endpoint.good),
      from: ownAddress(),
    });
    expectError(answer, "unsupported_media_type");
  });

  it("refuses a body over the limit, whether its length is announced or not", async () => {
    const limit = name === "receipts" ? 256 * 1024 : 1024 * 1024;
    expectError(await send(`{"x":"${"x".repeat(limit)}"}`), "payload_too_large");
    const chunked = await send(`{"x":"${"x".repeat(limit)}"}`, { "transfer-encoding": "chunked" });
    expectError(chunked, "payload_too_large");
  });

  it.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])("does not accept the method %s", async (method) => {
    if (name === "start" && method === "GET") return expectNotFoundToken();
    const answer = await api(server, {
      method,
      path: endpoint.path,
      token: endpoint.token,
      from: ownAddress(),
    });
    // GET /api/bootstrap/attach is a poll with a token that is none.
    if (name === "attach" && method === "GET") return expectError(answer, "not_found");
    expectError(answer, "method_not_allowed");
    expect(answer.headers["allow"]?.split(/, */)).toContain("POST");
  });

  async function expectNotFoundToken(): Promise<void> {
    expectError(await api(server, { method: "GET", path: endpoint.path, from: ownAddress() }), "not_found");
  }

  it("refuses a parameter in its query", async () => {
    const answer = await api(server, {
      method: "POST",
      path: `${endpoint.path}?verbose=1`,
      token: endpoint.token,
      json: endpoint.good,
      from: ownAddress(),
    });
    expectError(answer, "invalid_request");
  });

  it("answers any JSON with success or one of the contract's errors", async () => {
    const mutated = fc
      .tuple(fc.constantFrom(...endpoint.required, "extra"), fc.jsonValue({ maxDepth: 4 }), fc.boolean())
      .map(([field, value, remove]) => ({ ...endpoint.good, [field]: remove ? undefined : value }));
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue({ maxDepth: 3 }), mutated), async (value) => {
        const answer = await sendJson(value);
        if (answer.status >= 400) expectRefusal(answer, JSON.stringify(value));
      }),
      { numRuns: TRIES },
    );
  });

  it("answers any bytes with invalid_json or another of the contract's errors", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        const answer = await send(bytes);
        expectRefusal(answer);
      }),
      { numRuns: TRIES / 2 },
    );
  });

  it("answers any text in its fields without an internal error", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.constantFrom(
        "\u0000",
        "a\u0000b",
        "\ud800",
        "\udfff\ud800",
        "\u202e",
        "'; drop table orgs; --",
        "%s%n",
        "${7*7}",
      ),
    );
    const texts = endpoint.required.filter((field) => typeof endpoint.good[field] === "string");
    if (texts.length === 0) throw new Error(`${name} takes no text`);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...texts), text, async (field, value) => {
        const answer = await sendJson({ ...endpoint.good, [field]: value });
        if (answer.status >= 400) expectRefusal(answer, JSON.stringify({ [field]: value }));
      }),
      { numRuns: TRIES },
    );
  });
});

describe("a field of any content", () => {
  const HOSTILE: [string, string][] = [
    ["a zero character", '{"a":"\\u0000"}'],
    ["a zero character in a name", '{"a\\u0000b":1}'],
    ["half a surrogate pair", '{"a":"\\ud800"}'],
    ["half a surrogate pair in a name", '{"\\udc00":1}'],
    ["a number that is too large", '{"a":1e400}'],
    ["a number with many digits", `{"a":${"9".repeat(400)}}`],
    ["minus zero", '{"a":-0}'],
    ["a name twice", '{"a":1,"a":2}'],
    ["__proto__", '{"__proto__":{"x":1}}'],
    ["constructor and prototype", '{"constructor":{"prototype":{"x":1}}}'],
    ["a hundred levels", `${'{"a":'.repeat(100)}1${"}".repeat(100)}`],
    ["five thousand levels", `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`],
    ["sixty thousand levels", `{"a":${"[".repeat(60_000)}${"]".repeat(60_000)}}`],
    ["many names", `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join()}}`],
    ["names that sort in another way as UTF-16", '{"\\ud83d\\ude00":1,"\\ufb33":2}'],
  ];

  it.each(HOSTILE)(
    "that is an event's detail with %s is accepted or refused, without an internal error",
    async (_what, detail) => {
      const before = await treeSize();
      const answer = await watcher.call("POST", "/v1/events", undefined, {
        body: `{"kind":"backup_failed","occurred_at":"2026-11-21T08:00:00.000Z","detail":${detail}}`,
        headers: { "content-type": "application/json" },
      });
      if (answer.status === 201) expect(await treeSize()).toBe(before + 1);
      else {
        expectError(answer, "invalid_request", "invalid_json");
        expect(await treeSize()).toBe(before);
      }
    },
  );

  it.each(HOSTILE)(
    "that is a backup's metadata with %s is accepted or refused, without an internal error",
    async (_what, extra) => {
      const agent = await attach(org);
      const source = await declareSource(agent);
      const bytes = randomBytes(20);
      const upload = await uploadUrl(agent, source, bytes);
      await put(agent, upload, bytes);
      const body = JSON.stringify(registration(upload, source)).replace(
        '"schema_hash":',
        `"extra":${extra},"schema_hash":`,
      );
      const answer = await agent.call("POST", "/v1/backups", undefined, {
        body,
        headers: { "content-type": "application/json" },
      });
      if (answer.status !== 201) expectError(answer, "invalid_request", "invalid_json");
    },
  );
});

describe("an unknown path", () => {
  const paths = [
    "/v1",
    "/v1/",
    "/v1/unknown",
    "/v2/heartbeat",
    "/v1/heartbeat/",
    "/V1/heartbeat",
    "/v1//heartbeat",
    "/v1/heartbeat/../heartbeat",
    "/v1/backups/bkp_01JD4QK8X5E5R8V3N6Z7M4C2QP/download-url",
    "/v1/backups/bkp_81jd4qk8x5e5r8v3n6z7m4c2qp/download-url",
    "/v1/backups/src_01jd4qk8x5e5r8v3n6z7m4c2qp/download-url",
    "/v1/backups/%00/download-url",
    "/v1/backups/%zz/download-url",
    "/v1/backups/%ff/download-url",
    "/v1/backups/..%2f..%2fheartbeat/download-url",
    `/v1/backups/${"a".repeat(3000)}/download-url`,
    "/api/bootstrap",
    "/api/bootstrap/",
    "/api/unknown",
    "/.env",
    "/%2e%2e/%2e%2e/etc/passwd",
  ];
  it.each(paths)("%s is not found", async (path) => {
    for (const method of ["GET", "POST"] as const) {
      const answer = await api(server, {
        method,
        path,
        token: watcher.token,
        from: ownAddress(),
        ...(method === "POST" ? { json: {} } : {}),
      });
      if (method === "GET" && path.endsWith("/download-url"))
        expectError(answer, "not_found", "method_not_allowed");
      else expectError(answer, "not_found");
    }
  });
});

describe("a call that takes no body", () => {
  it.each(["/v1/log/head", "/v1/log/proof?leaf=0&tree_size=1"])("GET %s accepts only GET", async (path) => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      const json = method === "DELETE" ? undefined : {};
      const answer = await api(server, { method, path, token: watcher.token, json });
      expectError(answer, "method_not_allowed");
      expect(answer.headers["allow"]).toContain("GET");
    }
  });
});

it("each error code of the service has one status", () => {
  expect(Object.values(CONTRACT_ERRORS).every((status) => status >= 400)).toBe(true);
});

it("after all of these requests, the log is valid and the service answers", async () => {
  const fsck = await server.cli("fsck");
  expect(fsck.code, fsck.stdout + fsck.stderr).toBe(0);
  expect((await watcher.call("POST", "/v1/heartbeat", heartbeatBody())).status).toBe(200);
  expect(server.talk()).not.toMatch(/unhandled|uncaught/i);
});
