import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { declareSource, heartbeatBody } from "./harness/backups.ts";
import { parseVerifierKey } from "./harness/checkpoint.ts";
import { expectError } from "./harness/errors.ts";
import { filesUnder } from "./harness/files.ts";
import { api, ownAddress, type Answer } from "./harness/https.ts";
import { ed25519, p256 } from "./harness/keys.ts";
import {
  attach,
  attachBody,
  createAuthKey,
  createOrganisation,
  type Attached,
  type Organisation,
} from "./harness/organisation.ts";
import { AGENT_TOKEN, AUTH_KEY, idOf } from "./harness/patterns.ts";
import { startServer, type Server } from "./harness/server.ts";

let server: Server;
let org: Organisation;

beforeAll(async () => {
  // The limit of 30, and no hour that ends meanwhile.
  server = await startServer({ ATTESTORE_RATE_ATTACH_FAILURES: "30/9999999" });
  org = await createOrganisation(server);
});
afterAll(() => server.remove());

const knock = (token: string | undefined, from = ownAddress(), body: unknown = attachBody(ed25519())) =>
  api(server, { method: "POST", path: "/api/bootstrap/attach", token, json: body, from });

/** The same public id with another secret of the right shape. */
function wrongSecret(authKey: string, n = 0): string {
  const secret = Buffer.alloc(24, n + 1).toString("base64url");
  return `${authKey.slice(0, authKey.indexOf("_", 4) + 1)}${secret}`;
}

function codes(answers: Answer[]): string[] {
  return answers.map((answer) => (answer.status === 201 ? "201" : answer.json<{ error: string }>().error));
}

describe("an auth key", () => {
  it("attaches an agent and returns everything that the agent needs", async () => {
    expect(org.authKey).toMatch(AUTH_KEY);
    const answer = await knock(org.authKey);
    expect(answer.status).toBe(201);
    const attached = answer.json<Attached>();
    expect(attached).toEqual({
      agent_id: expect.stringMatching(idOf("agent")),
      org_id: org.id,
      api_token: expect.stringMatching(AGENT_TOKEN),
      log: {
        origin: expect.stringMatching(new RegExp(`^[^\\s+/]+/${org.id}$`)),
        verifier_key: expect.any(String),
      },
      heartbeat_interval_s: expect.any(Number),
    });
    expect(attached.heartbeat_interval_s).toBeGreaterThanOrEqual(1);
    expect(parseVerifierKey(attached.log.verifier_key).name).toBe(attached.log.origin);
  });

  it("attaches an agent whose key is P-256", async () => {
    const agent = await attach(org, { signer: p256(), from: ownAddress() });
    expect((await agent.call("GET", "/v1/log/head")).status).toBe(200);
  });

  it("attaches a fleet of agents from one address", async () => {
    const from = ownAddress();
    const fleet = await Promise.all(
      Array.from({ length: 40 }, (_, n) => knock(org.authKey, from, attachBody(ed25519(), `host-${n}`))),
    );
    expect(new Set(codes(fleet))).toEqual(new Set(["201"]));
    expect(new Set(fleet.map((answer) => answer.json<Attached>().agent_id)).size).toBe(40);
    expect(new Set(fleet.map((answer) => answer.json<Attached>().api_token)).size).toBe(40);
  });

  it("is needed to attach", async () => {
    expectError(await knock(undefined), "unauthenticated");
    expectError(await knock("nonsense"), "unauthenticated", "auth_key_invalid");
    expectError(await knock(org.authKey.slice(0, -1)), "unauthenticated", "auth_key_invalid");
    expectError(await knock(`${org.authKey}A`), "unauthenticated", "auth_key_invalid");
    expectError(await knock(`atk_${"0".repeat(10)}_${"A".repeat(32)}`), "auth_key_invalid");
  });

  it("is refused as an agent's token, and an agent's token as an auth key", async () => {
    const agent = await attach(org, { from: ownAddress() });
    expectError(await knock(agent.token), "unauthenticated", "auth_key_invalid");
    expectError(
      await api(server, { method: "GET", path: "/v1/log/head", token: org.authKey, from: ownAddress() }),
      "unauthenticated",
    );
  });

  it("is not spent by a request that is refused for its body", async () => {
    const key = await createAuthKey(server, org.id);
    const from = ownAddress();
    for (let n = 0; n < 6; n++) {
      expectError(
        await knock(key, from, { ...attachBody(ed25519()), public_key: "AAAA" }),
        "invalid_request",
      );
    }
    expect((await knock(key, from)).status).toBe(201);
  });
});

describe("wrong secrets for an auth key", () => {
  it("burn the key at the fifth try, and the right one is refused from then on", async () => {
    const key = await createAuthKey(server, org.id);
    const answers: Answer[] = [];
    for (let n = 0; n < 6; n++) answers.push(await knock(wrongSecret(key, n)));
    answers.push(await knock(key));
    expect(codes(answers)).toEqual([
      ...Array.from({ length: 4 }, () => "auth_key_invalid"),
      ...Array.from({ length: 3 }, () => "auth_key_burned"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 403, 403, 403]);
  });

  it("are not forgiven by a right one among them", async () => {
    const key = await createAuthKey(server, org.id);
    const tries = [0, 1, 2, 3].map((n) => wrongSecret(key, n));
    const answers: Answer[] = [];
    for (const token of [...tries, key, wrongSecret(key, 9), key]) answers.push(await knock(token));
    expect(codes(answers)).toEqual([
      ...Array.from({ length: 4 }, () => "auth_key_invalid"),
      "201",
      "auth_key_burned",
      "auth_key_burned",
    ]);
  });

  it("get at most four answers before the key is burned, even if sent at once", async () => {
    const key = await createAuthKey(server, org.id);
    const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => knock(wrongSecret(key, n))));
    const invalid = codes(answers).filter((code) => code === "auth_key_invalid");
    expect(invalid).toHaveLength(4);
    expect(codes(answers).filter((code) => code === "auth_key_burned")).toHaveLength(20);
    expectError(await knock(key), "auth_key_burned");
  });

  it("never let the right one in after five of them, whatever their order", async () => {
    const key = await createAuthKey(server, org.id);
    const sent = Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? wrongSecret(key, n) : key));
    const racing = codes(await Promise.all(sent.map((token) => knock(token))));
    const wrong = racing.filter((_, n) => n % 2 === 0);
    const right = racing.filter((_, n) => n % 2 === 1);
    expect(right, "the right secret is never called wrong").not.toContain("auth_key_invalid");
    expect(new Set(racing).difference(new Set(["201", "auth_key_invalid", "auth_key_burned"]))).toEqual(
      new Set(),
    );
    expect(wrong.filter((code) => code === "auth_key_invalid")).toHaveLength(4);
    expectError(await knock(key), "auth_key_burned");
  });

  it("are counted across restarts, and the key stays burned", async () => {
    const key = await createAuthKey(server, org.id);
    for (let n = 0; n < 3; n++) expectError(await knock(wrongSecret(key, n)), "auth_key_invalid");
    await server.kill();
    await server.start();
    expectError(await knock(wrongSecret(key, 3)), "auth_key_invalid");
    expectError(await knock(wrongSecret(key, 4)), "auth_key_burned");
    await server.stop();
    await server.start();
    expectError(await knock(key), "auth_key_burned");
  });

  it("do not affect another key of the organisation", async () => {
    const burned = await createAuthKey(server, org.id);
    const other = await createAuthKey(server, org.id);
    for (let n = 0; n < 5; n++) await knock(wrongSecret(burned, n));
    expect((await knock(other)).status).toBe(201);
  });

  it("are limited for each address, with Retry-After", async () => {
    const from = ownAddress();
    const answers: Answer[] = [];
    for (let n = 0; n < 31; n++) {
      answers.push(await knock(`atk_${String(n).padStart(10, "0")}_${"B".repeat(32)}`, from));
    }
    expect(new Set(codes(answers.slice(0, 30)))).toEqual(new Set(["auth_key_invalid"]));
    const [limited] = answers.slice(-1);
    if (!limited) throw new Error("no answer");
    expectError(limited, "rate_limited");
    expect(limited.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect((await knock(org.authKey)).status).toBe(201);
  });
});

describe("the agent's token", () => {
  it("is required by every call of the wire protocol, which answers alike whether it is missing, malformed or unknown", async () => {
    const calls = [
      ["POST", "/v1/heartbeat"],
      ["POST", "/v1/backups/upload-url"],
      ["POST", "/v1/backups/bkp_01jd4qk8x5e5r8v3n6z7m4c2qp/download-url"],
      ["POST", "/v1/backups"],
      ["POST", "/v1/receipts"],
      ["POST", "/v1/events"],
      ["GET", "/v1/log/head"],
      ["GET", "/v1/log/proof?leaf=0&tree_size=1"],
    ] as const;
    const unknown = `ats_${"A".repeat(43)}`;
    for (const [method, path] of calls) {
      for (const authorization of [
        undefined,
        "Bearer",
        "Bearer x",
        `Basic ${unknown}`,
        `Bearer ${unknown}`,
      ]) {
        const answer = await api(server, {
          method,
          path,
          headers: authorization === undefined ? {} : { authorization },
          ...(method === "POST" ? { json: heartbeatBody() } : {}),
          from: ownAddress(),
        });
        expectError(answer, "unauthenticated");
        expect(answer.status).toBe(401);
      }
    }
  });

  it("belongs to one agent, whose sources are its organisation's", async () => {
    const first = await attach(org, { from: ownAddress() });
    const second = await attach(org, { from: ownAddress() });
    expect(await declareSource(first, "shared")).toBe(await declareSource(second, "shared"));
    const elsewhere = await attach(await createOrganisation(server), { from: ownAddress() });
    expect(await declareSource(elsewhere, "shared")).not.toBe(await declareSource(first, "shared"));
  });
});

it("no secret is in the service's data directory or output", async () => {
  const agent = await attach(org, { from: ownAddress() });
  await agent.call("POST", "/v1/heartbeat", heartbeatBody());
  const secret = wrongSecret(org.authKey, 40);
  await knock(secret);
  await server.stop();
  const secrets = [agent.token, org.authKey, org.authKey.slice(15), secret.slice(15)];
  for (const file of filesUnder(server.data)) {
    const bytes = readFileSync(file);
    for (const value of secrets) expect(bytes.includes(value), `${value} in ${file}`).toBe(false);
  }
  for (const value of secrets) expect(server.talk()).not.toContain(value);
  await server.start();
});
