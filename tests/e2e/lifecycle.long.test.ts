import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { declareSource, heartbeatBody, writeEncryptedDump } from "./harness/backups.ts";
import { seal } from "./harness/dsse.ts";
import { expectError } from "./harness/errors.ts";
import { api, ownAddress, type Answer } from "./harness/https.ts";
import { ed25519 } from "./harness/keys.ts";
import {
  attach,
  attachBody,
  createAuthKey,
  createOrganisation,
  type Organisation,
} from "./harness/organisation.ts";
import { AUTH_KEY, idOf, TIMESTAMP, unknownId } from "./harness/patterns.ts";
import { startServer, type Server } from "./harness/server.ts";
import { backupStatement, submit } from "./harness/statements.ts";
import { until } from "./harness/wait.ts";

/** Auth keys that are revoked, used up or expired, and agents that are revoked. */

let server: Server;
let org: Organisation;

beforeAll(async () => {
  server = await startServer();
  org = await createOrganisation(server);
});
afterAll(() => server.remove());

interface MadeKey {
  id: string;
  auth_key: string;
  expires_at: string;
}

const makeKey = (...options: string[]): Promise<MadeKey> =>
  server.cliJson<MadeKey>("auth-key", "create", "--org", org.id, ...options);

const knock = (token: string): Promise<Answer> =>
  api(server, {
    method: "POST",
    path: "/api/bootstrap/attach",
    token,
    json: attachBody(ed25519()),
    from: ownAddress(),
  });

describe("an auth key", () => {
  it("is valid for seven days unless another time is given", async () => {
    const key = await makeKey();
    expect(key).toMatchObject({
      id: expect.stringMatching(idOf("key")),
      auth_key: expect.stringMatching(AUTH_KEY),
      expires_at: expect.stringMatching(TIMESTAMP),
    });
    const days = (made: MadeKey): number => (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
    expect(days(key)).toBeCloseTo(7, 2);
    expect(days(await makeKey("--expires-in", "90d"))).toBeCloseTo(90, 2);
    const tooLong = await server.cli("auth-key", "create", "--org", org.id, "--expires-in", "91d");
    expect(tooLong.code).not.toBe(0);
    expect(tooLong.stderr).toContain("90");
  });

  it("is listed without its secret", async () => {
    const key = await makeKey("--name", "for the new rack");
    const listed = await server.cli("auth-key", "list", "--org", org.id, "--json");
    expect(listed.code, listed.stderr).toBe(0);
    expect(listed.stdout).toContain(key.id);
    expect(listed.stdout).toContain("for the new rack");
    expect(listed.stdout).not.toContain(key.auth_key.slice(15));
  });

  it("attaches no agent once it is revoked, but its agents stay", async () => {
    const key = await makeKey();
    const agent = await attach({ ...org, authKey: key.auth_key }, { from: ownAddress() });
    const revoked = await server.cli("auth-key", "revoke", key.id, "--org", org.id);
    const done = revoked.code === 0 ? revoked : await server.cli("auth-key", "revoke", key.id);
    expect(done.code, revoked.stderr + done.stderr).toBe(0);
    expectError(await knock(key.auth_key), "auth_key_invalid");
    expect((await agent.call("GET", "/v1/log/head")).status).toBe(200);
  });

  it("attaches exactly as many agents as it allows, even if they come at once", async () => {
    const key = await makeKey("--max-uses", "3");
    const answers = await Promise.all(Array.from({ length: 12 }, () => knock(key.auth_key)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectError(answer, "auth_key_invalid");
    expectError(await knock(key.auth_key), "auth_key_invalid");
  });

  it("attaches agents only to its own organisation", async () => {
    const other = await createOrganisation(server);
    const agent = await attach(other, { from: ownAddress() });
    expect(agent.orgId).toBe(other.id);
    expect(agent.orgId).not.toBe(org.id);
  });

  it("is not created for an unknown organisation", async () => {
    const made = await server.cli("auth-key", "create", "--org", unknownId("org"));
    expect(made.code).not.toBe(0);
    expect(made.stdout).not.toMatch(/atk_/);
    await expect(createAuthKey(server, "nonsense")).rejects.toThrow(/exit code/);
  });
});

describe("a revoked agent", () => {
  it("is refused by every call at once, and its records stay", async () => {
    const agent = await attach(org, { from: ownAddress() });
    const backup = await writeEncryptedDump(agent, await declareSource(agent));
    const envelope = seal(agent.signer, backupStatement(agent, backup));
    expect((await submit(agent, envelope)).status).toBe(201);
    const watcher = await attach(org, { from: ownAddress() });
    const size = async (): Promise<number> =>
      (await watcher.call("GET", "/v1/log/head")).json<{ tree_size: number }>().tree_size;
    const before = await size();
    const revoked = await server.cli("agent", "revoke", agent.id);
    expect(revoked.code, revoked.stderr).toBe(0);
    await until("its token is refused", async () => {
      const answer = await agent.call("POST", "/v1/heartbeat", heartbeatBody());
      return answer.status === 401;
    });
    for (const [method, path, body] of [
      ["POST", "/v1/heartbeat", heartbeatBody()],
      ["POST", "/v1/receipts", envelope],
      ["POST", "/v1/events", {}],
      ["POST", `/v1/backups/${backup.id}/download-url`, {}],
      ["GET", "/v1/log/head", undefined],
    ] as const) {
      expectError(await agent.call(method, path, body), "agent_revoked");
    }
    expect(await size(), "the revocation is an event of the log").toBe(before + 1);
  });

  it("is refused immediately after a successful request of its own", async () => {
    const agent = await attach(org, { from: ownAddress() });
    expect((await agent.call("GET", "/v1/log/head")).status).toBe(200);
    expect((await server.cli("agent", "revoke", agent.id)).code).toBe(0);
    expectError(await agent.call("GET", "/v1/log/head"), "agent_revoked");
  });
});

describe("a service that is stopped", () => {
  it("ends a waiting poll, finishes running requests, and exits with 0", async () => {
    const started = await api(server, {
      method: "POST",
      path: "/api/bootstrap/start",
      json: attachBody(ed25519()),
      from: ownAddress(),
    });
    const { poll_token } = started.json<{ poll_token: string }>();
    const agent = await attach(org, { from: ownAddress() });
    const held = api(server, {
      method: "GET",
      path: `/api/bootstrap/${poll_token}`,
      from: ownAddress(),
    }).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
    await agent.call("GET", "/v1/log/head");
    const begun = performance.now();
    const stopped = await server.stop();
    expect(stopped.code, stopped.stderr).toBe(0);
    // A poll that it waited for would take 25 s.
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect([202, 503, "socket hang up"]).toContain(await held);
    await server.start();
  });

  it("does not let a second service use its data while it runs", async () => {
    const second = await server.cli("serve");
    expect(second.code).not.toBe(0);
    expect(second.stderr + second.stdout).toMatch(/in use|already|address|lock/i);
  });
});
