import { execFile } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  openLogCheckpoint,
  parseLogGenerations,
  parseVerifierKey,
  verifyGenerations,
  type NoteVerifier,
} from "@attestore/proof";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attachBody } from "../../test/new-agent.ts";
import { TestServer } from "../../test/test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.create();
});
afterEach(() => server.remove());

const file = (...path: string[]): string => join(server.data, ...path);
/** With owners and modes. */
const copy = (from: string, to: string): Promise<unknown> => promisify(execFile)("cp", ["-a", from, to]);

async function stop(running: Awaited<ReturnType<TestServer["serve"]>>): Promise<void> {
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
}

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await server.run([...args, "--json"]).finished;
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout) as Record<string, unknown>;
}

interface Attached {
  status: number;
  id: string;
  token: string;
  logKey: NoteVerifier;
}

async function attach(org: string): Promise<Attached> {
  const authKey = (await json("auth-key", "create", "--org", org))["auth_key"] as string;
  const { status, body } = await server.send("POST", "/api/bootstrap/attach", attachBody(), authKey);
  const answer = JSON.parse(body.toString()) as {
    agent_id: string;
    api_token: string;
    log: { verifier_key: string };
  };
  if (status !== 201) return { status, id: "", token: "", logKey: undefined as unknown as NoteVerifier };
  return {
    status,
    id: answer.agent_id,
    token: answer.api_token,
    logKey: parseVerifierKey(answer.log.verifier_key),
  };
}

const get = (path: string, token: string) => server.send("GET", path, undefined, token);

// Each starts the program a dozen times.
const LONG_MS = 300_000;

test(
  "a log of a restored older database goes on as its second generation, once the operator says so",
  async () => {
    const first = await server.serve();
    const org = (await json("org", "add", "Cut"))["id"] as string;
    const agent = await attach(org);
    const left = (await get(`/log/${org}/checkpoint`, agent.token)).body.toString();
    await stop(first);
    await copy(file("postgres", "data"), file("older"));
    const second = await server.serve();
    const lostAgent = await attach(org);
    const lost = (await get(`/log/${org}/checkpoint`, lostAgent.token)).body.toString();
    await stop(second);
    await rm(file("postgres", "data"), { recursive: true });
    await rename(file("older"), file("postgres", "data"));

    // The service has not looked yet, and an entry that this command logs would be a fork.
    const revoked = await server.run(["agent", "revoke", agent.id]).finished;
    expect([revoked.exitCode, revoked.stderr]).toEqual([1, expect.stringContaining("read-only")]);
    const third = await server.serve();
    expect((await attach(org)).status).toBe(503);
    const shown = await server.run(["log", "recover", "cut"]).finished;
    expect([shown.exitCode, shown.stdout]).toEqual([0, "Nothing was changed.\n"]);
    expect(shown.stderr).toContain("lost: the head of 2 entries");
    const done = await json("log", "recover", "cut", "--yes", "--because", "the standby lacked entries");
    expect(done).toMatchObject({ recovered: true, generation: 2, org_id: org });
    // The running service goes on with it, and nobody can do the same twice.
    const later = await attach(org);
    expect(later.status).toBe(201);
    const again = await server.run(["log", "recover", "cut", "--yes", "--because", "again"]).finished;
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("nothing to recover")]);

    const old = await get(`/log/${org}/checkpoint`, agent.token);
    expect(old.body.toString().split("\n").slice(0, 3)).toEqual(left.split("\n").slice(0, 3));
    const now = await openLogCheckpoint(
      (await get(`/log/${org}/2/checkpoint`, agent.token)).body.toString(),
      agent.logKey,
    );
    expect(now).toMatchObject({ generation: 2, size: 3n });
    const tile = async (path: string) => (await get(`/log/${org}/${path}`, agent.token)).status;
    expect(await tile("tile/0/000.p/1")).toBe(200);
    expect(await tile("tile/0/000.p/3")).toBe(404);
    expect(await tile("2/tile/0/000.p/3")).toBe(200);
    for (const none of ["1/checkpoint", "3/checkpoint", "02/checkpoint", "3/tile/0/000.p/1"])
      expect(await tile(none), none).toBe(404);
    const { began } = parseLogGenerations((await get("/v1/log/generations", agent.token)).body);
    const [rollback] = await verifyGenerations(began, agent.logKey, 2);
    expect(rollback).toMatchObject({ size: 1, because: "the standby lacked entries" });
    expect(rollback?.lost.map(({ size }) => size)).toEqual([2]);
    expect(lost).toContain(Buffer.from(rollback?.lost[0]?.rootHash ?? []).toString("base64"));

    const { exitCode, stdout } = await server.run(["fsck"]).finished;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("clean")]);
    expect((await server.run(["log", "lost"]).finished).exitCode).toBe(0);
    await stop(third);
    // A restart finds the lost head in signed-heads, and stops nothing.
    const fourth = await server.serve();
    expect((await attach(org)).status).toBe(201);
    await stop(fourth);
  },
  LONG_MS,
);

test(
  "kill -9 of the command leaves the log read-only, or recovered once",
  async () => {
    const first = await server.serve();
    const org = (await json("org", "add", "Cut"))["id"] as string;
    await stop(first);
    await copy(file("postgres", "data"), file("older"));
    const second = await server.serve();
    const { token } = await attach(org);
    await get(`/log/${org}/checkpoint`, token);
    await stop(second);
    await rm(file("postgres", "data"), { recursive: true });
    await rename(file("older"), file("postgres", "data"));
    const third = await server.serve();
    for (const after_ms of [400, 900, 1500]) {
      const command = server.run(["log", "recover", org, "--yes", "--because", "killed"]);
      const killed = setTimeout(() => command.process.kill("SIGKILL"), after_ms);
      await command.finished.catch(() => undefined);
      clearTimeout(killed);
      const { began } = await generations(org);
      expect(began.length).toBeLessThanOrEqual(1);
    }
    await server.run(["log", "recover", org, "--yes", "--because", "at last"]).finished;
    expect((await generations(org)).began).toHaveLength(1);
    expect((await attach(org)).status).toBe(201);
    expect((await server.run(["fsck"]).finished).exitCode).toBe(0);
    await stop(third);

    /** As the database has them: no agent of this log is left who could ask. */
    async function generations(of: string): Promise<{ began: unknown[] }> {
      const { logs } = (await json("log", "lost")) as { logs: { org_id: string }[] };
      return { began: logs.some(({ org_id }) => org_id === of) ? [] : [of] };
    }
  },
  LONG_MS,
);
