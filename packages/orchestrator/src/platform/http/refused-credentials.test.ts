/**
 * An address that goes on guessing, credentials or codes: refused before the body of its next call
 * is read, and alone.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownAddress } from "../../../test/client.ts";
import { endless } from "../../../test/endless-windows.ts";
import { startTestService, type TestOrg, type TestService } from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
beforeAll(async () => {
  service = await startTestService({ rateLimits: endless("verify_address", "verify_email") });
  org = await service.addOrg();
});
afterAll(() => service.close());

/** The status of a call whose body is announced and never sent. */
async function withoutBody(path: string, from: string, token?: string): Promise<number | undefined> {
  const outgoing = request({
    host: "127.0.0.1",
    servername: "localhost",
    port: service.port,
    ca: service.ca,
    agent: false,
    localAddress: from,
    method: "POST",
    path,
    headers: {
      "content-type": "application/json",
      "content-length": "1000",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  outgoing.on("error", () => undefined);
  outgoing.flushHeaders();
  try {
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return response.statusCode;
  } finally {
    outgoing.destroy();
  }
}

async function repeat(count: number, call: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 50)
    statuses.push(...(await Promise.all(Array.from({ length: 50 }, call))).map(({ status }) => status));
  return statuses;
}

test("tokens: after 600 that nobody has, the address is refused with a right one too, and others are not", async () => {
  const agent = await service.attach(org);
  const from = ownAddress();
  const guess = () =>
    service.call({
      method: "GET",
      path: "/v1/log/head",
      token: `ats_${randomBytes(32).toString("base64url")}`,
      from,
    });
  expect(new Set(await repeat(600, guess))).toEqual(new Set([401]));
  expect((await guess()).json).toMatchObject({ error: "rate_limited" });
  expect((await agent.get("/v1/log/head", { from })).status).toBe(429);
  expect((await agent.get("/v1/log/head", { from: ownAddress() })).status).toBe(200);
  expect(await withoutBody("/v1/events", from, agent.token)).toBe(429);
});

test("codes: after 60 tries of one address, whatever e-mail addresses they are about, its next is refused unread", async () => {
  const from = ownAddress();
  let n = 0;
  const guess = () =>
    service.call({
      method: "POST",
      path: "/api/auth/verify",
      json: { email: `guessed.${++n}@example.org`, code: "AAAA-AAAA" },
      from,
    });
  const statuses = await repeat(100, guess);
  expect(statuses.filter((status) => status === 401)).toHaveLength(60);
  expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  expect(await withoutBody("/api/auth/verify", from)).toBe(429);
  const other = await service.call({
    method: "POST",
    path: "/api/auth/verify",
    json: { email: "guessed.1@example.org", code: "AAAA-AAAA" },
    from: ownAddress(),
  });
  expect(other.status).toBe(401);
});
