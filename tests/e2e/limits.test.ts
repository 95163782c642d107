import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { heartbeatBody } from "./harness/backups.ts";
import { expectError } from "./harness/errors.ts";
import { api, ownAddress, type Answer } from "./harness/https.ts";
import { ed25519 } from "./harness/keys.ts";
import { attach, attachBody, createOrganisation, type Organisation } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";

/**
 * Limits set low by configuration, so that they are reached at once. In the longest window that it
 * takes: an hour could end meanwhile.
 */
const WINDOW_S = 9_999_999;

let server: Server;
let org: Organisation;

beforeAll(async () => {
  server = await startServer({
    ATTESTORE_RATE_DEFAULT: `20/${WINDOW_S}`,
    ATTESTORE_RATE_ATTACH_FAILURES: `3/${WINDOW_S}`,
    ATTESTORE_RATE_BOOTSTRAP_START: `2/${WINDOW_S}`,
  });
  org = await createOrganisation(server);
});
afterAll(() => server.remove());

function expectLimited(answer: Answer | undefined): void {
  if (!answer) throw new Error("no answer");
  expectError(answer, "rate_limited");
  expect(answer.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  expect(Number(answer.headers["retry-after"])).toBeLessThanOrEqual(WINDOW_S);
}

describe("the limit of calls", () => {
  it("applies to each credential separately", async () => {
    const [busy, calm] = [await attach(org), await attach(org)];
    const answers: Answer[] = [];
    for (let n = 0; n < 22; n++) answers.push(await busy.call("GET", "/v1/log/head"));
    expect(answers.slice(0, 20).every(({ status }) => status === 200)).toBe(true);
    expectLimited(answers[20]);
    expectLimited(answers[21]);
    expect(answers[0]?.headers["ratelimit"]).toBeDefined();
    expect(answers[0]?.headers["ratelimit-policy"]).toBeDefined();
    expect((await calm.call("GET", "/v1/log/head")).status).toBe(200);
  });

  it("holds for simultaneous calls", async () => {
    const agent = await attach(org);
    const answers = await Promise.all(Array.from({ length: 40 }, () => agent.call("GET", "/v1/log/head")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it("does not apply to heartbeats", async () => {
    const agent = await attach(org);
    for (let n = 0; n < 30; n++) {
      expect((await agent.call("POST", "/v1/heartbeat", heartbeatBody())).status).toBe(200);
    }
  });

  it("does not hide that a credential is unknown", async () => {
    for (let n = 0; n < 25; n++) {
      const token = `ats_${"A".repeat(43)}`;
      expectError(await api(server, { method: "GET", path: "/v1/log/head", token }), "unauthenticated");
    }
  });

  it("of failed attaches applies to an address, and does not count attaches with the right key", async () => {
    const from = ownAddress();
    const knock = (token: string): Promise<Answer> =>
      api(server, {
        method: "POST",
        path: "/api/bootstrap/attach",
        token,
        json: attachBody(ed25519()),
        from,
      });
    for (let n = 0; n < 5; n++) expect((await knock(org.authKey)).status).toBe(201);
    const unknown = `atk_${"0".repeat(10)}_${"A".repeat(32)}`;
    for (let n = 0; n < 3; n++) expectError(await knock(unknown), "auth_key_invalid");
    expectLimited(await knock(unknown));
  });

  it("of interactive attaches applies to the real address, whatever address the request claims", async () => {
    const from = ownAddress();
    const begin = (headers: Record<string, string> = {}): Promise<Answer> =>
      api(server, {
        method: "POST",
        path: "/api/bootstrap/start",
        json: attachBody(ed25519()),
        from,
        headers,
      });
    expect((await begin()).status).toBe(201);
    expect((await begin()).status).toBe(201);
    expectLimited(await begin());
    expectLimited(await begin({ "x-forwarded-for": "192.0.2.7", forwarded: "for=192.0.2.7" }));
  });
});
