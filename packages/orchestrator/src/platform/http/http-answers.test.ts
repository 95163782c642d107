import { connect } from "node:tls";
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
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
});
afterAll(() => service.close());

const REQUEST_ID = /^req_[0-9a-hjkmnp-tv-z]{26}$/;

/** Sends bytes over TLS and reads until the service ends the connection. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: "127.0.0.1",
      servername: "localhost",
      port: service.port,
      ca: service.ca,
    });
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (text += chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.on("secureConnect", () => socket.write(bytes));
  });
}

function parsed(text: string): { status: number; headers: string; json: Record<string, unknown> } {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    headers: head.toLowerCase(),
    json: JSON.parse(body) as Record<string, unknown>,
  };
}

describe("every answer names its request", () => {
  test("and no two the same, whether it succeeds or fails", async () => {
    const answers: Answer[] = [
      await agent.post("/v1/heartbeat", heartbeat()),
      await agent.get("/v1/log/head"),
      await agent.get("/v1/nothing"),
      await agent.get("/v1/heartbeat"),
      await agent.post("/v1/heartbeat", {}),
      await service.call({ method: "POST", path: "/v1/heartbeat", json: {} }),
      await service.call({ method: "GET", path: "/objects/x/y" }),
      await service.call({ method: "GET", path: "/%zz" }),
    ];
    const ids = answers.map(({ headers }) => headers["x-request-id"]);
    for (const id of ids) expect(id).toMatch(REQUEST_ID);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { status, json, headers } of answers)
      if (status >= 400) expect(json["request_id"]).toBe(headers["x-request-id"]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 405, 400, 401, 403, 404]);
  });

  test("also where an expectation is none that anybody knows (RFC 9110 section 10.1.1)", async () => {
    const answer = await agent.get("/v1/log/head", { headers: { expect: "200-maybe" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["x-request-id"]).toMatch(REQUEST_ID);
  });

  test("also when a client would like to choose it", async () => {
    const id = "req_01jd4qk8x5e5r8v3n6z7m4c2qp";
    const answer = await agent.get("/v1/log/head", { headers: { "x-request-id": id } });
    expect(answer.headers["x-request-id"]).not.toBe(id);
  });

  test.each([
    ["what is not HTTP", "hello\r\n\r\n"],
    ["no Host", "GET /v1/log/head HTTP/1.1\r\n\r\n"],
    ["no Host on an unknown path", "GET /v1/nothing HTTP/1.1\r\n\r\n"],
    ["an unknown method", "BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["two lengths", "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    [
      "a length and chunks",
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
    ["headers of 20 kB", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
    ["a header with a line break in it", "GET / HTTP/1.1\r\nHost: x\r\nX : a\r\n b\r\n\r\n"],
  ])("even of %s", async (_what, bytes) => {
    const { status, headers, json } = parsed(await exchange(bytes));
    expect([status, json["error"]]).toEqual([400, "invalid_request"]);
    expect(json["request_id"]).toMatch(REQUEST_ID);
    expect(headers).toContain(`x-request-id: ${json["request_id"] as string}`);
    expect(json["details"]).toEqual(expect.any(Object));
  });
});

describe("paths and methods", () => {
  test.each([
    "/",
    "/v1",
    "/v1/",
    "/V1/heartbeat",
    "/v1/heartbeat/",
    "/v1//heartbeat",
    "/v1/../v1/heartbeat",
    "/api/bootstrap/",
    "/.env",
  ])("%s is no path, by any method", async (path) => {
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const answer = await agent.post(path, method === "GET" ? undefined : {}, { method });
      expect([answer.status, answer.json["error"]]).toEqual([404, "not_found"]);
    }
  });

  test.each([
    ["/v1/heartbeat", "POST"],
    ["/v1/backups", "POST"],
    ["/v1/receipts", "POST"],
    ["/v1/log/head", "GET, HEAD"],
    ["/log/org_2x4y6z8a0b1c2d3e4f5g6h7j8k/checkpoint", "GET, HEAD"],
    ["/log/org_2x4y6z8a0b1c2d3e4f5g6h7j8k/tile/entries/000", "GET, HEAD"],
    ["/objects/a/b.age", "GET, HEAD, PUT"],
    ["/metrics", "GET, HEAD"],
  ])("%s takes %s and says so to other methods", async (path, allow) => {
    const methods = ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"].filter(
      (method) => !allow.includes(method),
    );
    for (const method of methods) {
      const answer = await agent.post(path, undefined, { method });
      expect([answer.status, answer.json["error"], answer.headers["allow"]]).toEqual([
        405,
        "method_not_allowed",
        allow,
      ]);
    }
  });

  test("HEAD is a GET without its body", async () => {
    const answer = await agent.get("/v1/log/head", { method: "HEAD" });
    expect([answer.status, answer.body.length]).toEqual([200, 0]);
    expect(Number(answer.headers["content-length"])).toBeGreaterThan(0);
  });

  test("a GET that announces a body does not take the next request for it", async () => {
    const first = `GET /v1/log/head HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n`;
    const { headers } = parsed(await exchange(first));
    expect(headers).toContain("connection: close");
  });
});

describe("the credential of the wire protocol", () => {
  test("missing, malformed and unknown ones get the same answer", async () => {
    const answers = await Promise.all(
      [
        undefined,
        "Bearer",
        "Bearer x",
        `Basic ${agent.token}`,
        `Bearer ${agent.token}x`,
        `Bearer ats_${"A".repeat(43)}`,
        `Bearer ${org.authKey}`,
      ].map((authorization) =>
        service.call({
          method: "POST",
          path: "/v1/events",
          json: {},
          headers: authorization === undefined ? {} : { authorization },
        }),
      ),
    );
    for (const { status, json, headers } of answers) {
      expect([status, json["error"], json["message"], json["details"]]).toEqual([
        401,
        "unauthenticated",
        answers[0]?.json["message"],
        {},
      ]);
      expect(headers["www-authenticate"]).toBe("Bearer");
    }
  });

  test("the scheme is read without regard to case (RFC 9110 section 11.1)", async () => {
    const answer = await service.call({
      method: "GET",
      path: "/v1/log/head",
      headers: { authorization: `bearer ${agent.token}` },
    });
    expect(answer.status).toBe(200);
  });

  test("comes before the body: a refused call's body is not looked at", async () => {
    const answer = await service.call({
      method: "POST",
      path: "/v1/events",
      body: "{",
      headers: { "content-type": "text/plain" },
    });
    expect(answer.status).toBe(401);
  });
});

test("X-Forwarded-For from an untrusted address is ignored", async () => {
  const from = "127.77.0.1";
  for (let n = 0; n < 31; n++) {
    const answer = await service.call({
      method: "POST",
      path: "/api/bootstrap/start",
      json: attachBody(),
      from,
      headers: { "x-forwarded-for": `10.0.0.${n}`, forwarded: `for=10.0.0.${n}` },
    });
    expect(answer.status).toBe(n < 30 ? 201 : 429);
  }
});

test("X-Forwarded-For of a trusted proxy counts, up to the first untrusted address", async () => {
  const behindProxy = await startTestService({ trustProxy: ["127.0.0.0/8"] });
  try {
    const forwarded = (address: string): Promise<Answer> =>
      behindProxy.call({
        method: "POST",
        path: "/api/bootstrap/start",
        json: attachBody(),
        headers: { "x-forwarded-for": `6.6.6.6, ${address}` },
      });
    for (let n = 0; n < 31; n++) expect((await forwarded("192.0.2.1")).status).toBe(n < 30 ? 201 : 429);
    expect((await forwarded("192.0.2.2")).status).toBe(201);
    const { rows } = await behindProxy.pool.query("select distinct address from bootstraps order by address");
    expect(rows).toEqual([{ address: "192.0.2.1" }, { address: "192.0.2.2" }]);
  } finally {
    await behindProxy.close();
  }
});
