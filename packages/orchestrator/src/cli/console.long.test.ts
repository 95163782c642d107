import { newId } from "@attestore/contract";
import { readdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordBackup } from "../../test/recorded.ts";
import { openConsole } from "./console.ts";
import { attachBody } from "../../test/new-agent.ts";
import { TestServer, type Finished } from "../../test/test-server.ts";

let server: TestServer;
let orgId: string;
beforeAll(async () => {
  server = await TestServer.create();
  await server.serve();
  orgId = (await json("org", "add", "Grüne Äpfel & Co"))["id"] as string;
});
afterAll(() => server.remove());

const run = (...args: string[]): Promise<Finished> => server.run(args).finished;
const json = (...args: string[]) => server.json(...args);
const list = (...args: string[]) => server.list(...args);

async function sendAs(token: string, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await server.send("POST", path, body, token);
  return JSON.parse(answer.body.toString()) as Record<string, unknown>;
}

async function startAttach(): Promise<{ code: string; poll_token: string }> {
  const answer = await server.send("POST", "/api/bootstrap/start", attachBody());
  return JSON.parse(answer.body.toString()) as { code: string; poll_token: string };
}

async function poll(pollToken: string): Promise<{ status: number; json: Record<string, unknown> }> {
  const answer = await server.send("GET", `/api/bootstrap/${pollToken}`);
  return { status: answer.status, json: JSON.parse(answer.body.toString()) as Record<string, unknown> };
}

describe("an organisation", () => {
  test("gets a slug, and a script reads only its id", async () => {
    const { exitCode, stdout, stderr } = await run("org", "add", "Second");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^org_[0-9a-z]{26}\n$/);
    expect(stderr).toContain("Next: attestore-server auth-key create --org second");
    expect(await list("org", "list")).toMatchObject([
      { id: orgId, name: "Grüne Äpfel & Co", slug: "grune-apfel-co", public_log: false },
      { id: stdout.trim(), slug: "second" },
    ]);
  });

  test("of the same slug is refused with exit code 1, and one without a usable name too", async () => {
    const { exitCode, stdout, stderr } = await run("org", "add", "GRUNE apfel co");
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain('"grune-apfel-co"');
    expect((await run("org", "add", "???")).exitCode).toBe(1);
    const tokyo = await json("org", "add", "東京");
    expect(tokyo).toMatchObject({ name: "東京", slug: String(tokyo["id"]).replace("_", "-") });
    const refused = await run("org", "add", "second", "--json");
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: "already_exists",
      details: { slug: "second" },
    });
  });
});

test("commands in a shell without the service's settings print the address that it has", async () => {
  const bare = { ATTESTORE_LISTEN: "", ATTESTORE_PUBLIC_URL: "" };
  const created = await server.run(["auth-key", "create", "--org", orgId], bare).finished;
  expect(created.stderr).toContain(`--service https://localhost:${server.port} `);
  const doctor = await server.run(["doctor"], bare).finished;
  expect(doctor.stdout).toContain(`It runs on 127.0.0.1:${server.port}, and is ready.`);
});

describe("an auth key", () => {
  test("is printed once, alone on stdout, and never on stderr", async () => {
    const { exitCode, stdout, stderr } = await run(
      "auth-key",
      "create",
      "--org",
      "grune-apfel-co",
      "--expires-in",
      "2h",
      "--max-uses",
      "3",
      "--name",
      "CI",
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^atk_[0-9a-z]{10}_[A-Za-z0-9_-]{32}\n$/);
    expect(stderr).not.toContain(stdout.trim().slice(15));
    expect(stderr).toMatch(
      /attestore init --service https:\/\/localhost:\d+ --ca-sha256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\n/,
    );
    const listed = await run("auth-key", "list", "--org", orgId);
    expect(listed.stdout).toMatch(/key_\w+ +CI +0 of 3 +0 /);
    expect(listed.stdout).not.toContain(stdout.trim().slice(4, 14));
  });

  test("ends when it is revoked, once, and is then shown with --all only", async () => {
    const { id } = await json("auth-key", "create", "--org", orgId);
    expect(await json("auth-key", "revoke", id as string)).toMatchObject({ id, state: "revoked" });
    expect((await run("auth-key", "revoke", id as string)).exitCode).toBe(1);
    expect((await list("auth-key", "list", "--org", orgId)).map((key) => key["id"])).not.toContain(id);
    expect((await list("auth-key", "list", "--org", orgId, "--all")).map((key) => key["id"])).toContain(id);
  });

  test.each([
    ["--expires-in", "7"],
    ["--expires-in", "0d"],
    ["--max-uses", "0"],
    ["--max-uses", "many"],
  ])("%s %s is a wrong call: exit code 2, and what would be right", async (option, value) => {
    const { exitCode, stdout, stderr } = await run("auth-key", "create", "--org", orgId, option, value);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/12h|whole number/);
  });

  test("of more than 90 days is refused", async () => {
    expect((await run("auth-key", "create", "--org", orgId, "--expires-in", "91d")).exitCode).toBe(1);
  });
});

describe("an interactive attach", () => {
  test("is listed, compared, approved, and its agent revoked, all while the service runs", async () => {
    const { code, poll_token } = await startAttach();
    const [pending] = await list("bootstrap", "list");
    expect(pending).toMatchObject({
      hostname: "host-1.example.org",
      platform: "linux-x64",
      address: "127.0.0.1",
    });
    expect(JSON.stringify(pending)).not.toContain(code);
    const shown = await run("bootstrap", "show", code.toLowerCase());
    expect(shown.stdout).toContain(pending?.["key_fingerprint"]);
    const waiting = poll(poll_token);
    const approved = await run("bootstrap", "approve", code.replace("-", ""), "--org", "grune-apfel-co");
    expect(approved.exitCode, approved.stderr).toBe(0);
    for (const part of ["host-1.example.org", "linux-x64", "127.0.0.1", pending?.["key_fingerprint"]])
      expect(approved.stderr).toContain(part);
    const agentId = approved.stdout.trim();
    expect(await waiting).toMatchObject({ status: 200, json: { agent_id: agentId, org_id: orgId } });
    expect((await run("bootstrap", "deny", code, "--org", orgId)).exitCode).toBe(1);
    expect(await json("agent", "revoke", agentId)).toMatchObject({ id: agentId, status: "revoked" });
    expect(await list("agent", "list", "--org", orgId)).toMatchObject([{ id: agentId, status: "revoked" }]);
  });

  test("is denied", async () => {
    const { code, poll_token } = await startAttach();
    expect(await json("bootstrap", "deny", code, "--org", orgId)).toMatchObject({ status: "denied" });
    expect(await poll(poll_token)).toMatchObject({ status: 403, json: { error: "attach_denied" } });
  });
});

describe("a backup", () => {
  test("that is to go is listed, kept and left to the rules again; an unknown one is refused", async () => {
    const console = await openConsole({
      ...process.env,
      ATTESTORE_DATA: server.data,
      ATTESTORE_LISTEN: `127.0.0.1:${server.port}`,
    });
    let id: string;
    try {
      const agentId = newId("agent");
      const { db } = console;
      const key = {
        public_key: Buffer.alloc(32),
        key_fingerprint: "SHA256:x",
        token_sha256: Buffer.from(agentId),
      };
      const host = { name: "h", hostname: "h", platform: "linux-x64", agent_version: "0" };
      await db
        .insertInto("agents")
        .values({ id: agentId, org_id: orgId, ...host, ...key })
        .execute();
      const sourceId = newId("source");
      const source = { slug: "kept", name: "kept", engine: "sqlite", agent_id: agentId };
      await db
        .insertInto("sources")
        .values({ id: sourceId, org_id: orgId, ...source })
        .execute();
      id = await recordBackup(db, { orgId, sourceId, agentId, at: new Date() });
      await db.updateTable("backups").set({ expires_at: new Date() }).where("id", "=", id).execute();
    } finally {
      await console.close();
    }
    const going = () => list("backup", "list", "--org", orgId, "--going");
    expect(await going()).toMatchObject([{ id }]);
    expect(await json("backup", "keep", id)).toMatchObject({
      id,
      expires_at: null,
      kept_at: expect.any(String),
    });
    expect(await going()).toEqual([]);
    expect(await json("backup", "release", id)).not.toHaveProperty("kept_at");
    expect((await run("backup", "keep", newId("backup"))).exitCode).toBe(1);
    const refused = await run("retention", "resume", "--org", orgId, "--source", "kept");
    expect([refused.exitCode, refused.stderr]).toEqual([1, "This source's retention is not stopped.\n"]);
  });
});

describe("a command", () => {
  test("is queued for the source's agent by slug or id", async () => {
    const { auth_key } = await json("auth-key", "create", "--org", orgId);
    const attached = await sendAs(auth_key as string, "/api/bootstrap/attach", attachBody());
    const token = attached["api_token"] as string;
    const beat = {
      agent_version: "1",
      hostname: "h",
      platform: "p",
      uptime_s: 1,
      acks: [],
      sources: [{ slug: "orders", engine: "sqlite" }],
    };
    const { sources } = await sendAs(token, "/v1/heartbeat", beat);
    const [source] = sources as { id: string }[];
    const first = await json("command", "queue", "--org", orgId, "--source", "orders", "--kind", "backup");
    const second = await json("command", "queue", "--source", source?.id ?? "", "--kind", "restore_test");
    expect([first["agent_id"], second["agent_id"]]).toEqual([attached["agent_id"], attached["agent_id"]]);
    const { commands } = await sendAs(token, "/v1/heartbeat", beat);
    expect((commands as { id: string }[]).map(({ id }) => id)).toEqual([
      first["command_id"],
      second["command_id"],
    ]);
    expect(await list("command", "list", "--org", orgId)).toMatchObject([
      { id: second["command_id"], status: "delivered", attempts: 1 },
      { id: first["command_id"], status: "delivered" },
    ]);
  });

  test("for a source that nobody knows, or that is named without its organisation, is refused", async () => {
    expect((await run("command", "queue", "--source", "orders", "--kind", "backup")).exitCode).toBe(1);
    expect(
      (await run("command", "queue", "--org", orgId, "--source", "nothing", "--kind", "backup")).exitCode,
    ).toBe(1);
    expect(
      (await run("command", "queue", "--org", orgId, "--source", "orders", "--kind", "dance")).exitCode,
    ).toBe(2);
    expect((await run("command", "queue", "--org", orgId, "--source", "orders")).exitCode).toBe(2);
  });
});

test("everything that was changed on the console is in the API log, and nothing secret", async () => {
  const { auth_key } = await json("auth-key", "create", "--org", orgId);
  await run("org", "add", "Grune Apfel Co");
  const console = await openConsole({
    ATTESTORE_DATA: server.data,
    ATTESTORE_LISTEN: `127.0.0.1:${server.port}`,
  });
  try {
    const rows = await console.db
      .selectFrom("api_logs")
      .selectAll()
      .where("actor_kind", "=", "console")
      .orderBy("id")
      .execute();
    expect(rows.at(0)).toMatchObject({
      route: "org add",
      org_id: orgId,
      actor_id: userInfo().username,
      address: "console",
    });
    expect(rows.at(-1)).toMatchObject({ route: "auth-key create", org_id: orgId, status: 200 });
    expect(JSON.stringify(rows)).not.toContain((auth_key as string).slice(15));
  } finally {
    await console.close();
  }
});

test("an empty list is reported on stderr, and stdout stays empty", async () => {
  const { id } = await json("org", "add", "Empty");
  for (const args of [
    ["auth-key", "list"],
    ["agent", "list"],
    ["command", "list"],
  ]) {
    const { exitCode, stdout, stderr } = await run(...args, "--org", id as string);
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/^There is no/);
  }
});

test("an unknown organisation is refused, and the message says where to look", async () => {
  const { exitCode, stderr } = await run("agent", "list", "--org", "nobody");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("attestore-server org list");
});

test("a command in a directory without a service makes no database there and calls nothing clean", async () => {
  const empty = await TestServer.create({ first: true });
  try {
    const commands = [
      "fsck",
      "log lost",
      "log recover x",
      "objects quarantine",
      "objects sweep --yes",
      "org list",
    ];
    commands.push(
      "service backup --to . --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
    );
    for (const command of commands) {
      const { exitCode, stdout, stderr } = await empty.run(command.split(" ")).finished;
      expect([exitCode, stdout, stderr], command).toEqual([
        2,
        "",
        expect.stringMatching(/has no service's database.*systemctl show -P Environment attestore-server/),
      ]);
    }
    const doctor = await empty.run(["doctor"]).finished;
    expect(doctor.stdout).toMatch(/does not exist yet.*If a service runs on this machine, run it with/);
    await expect(readdir(empty.data)).rejects.toThrow("ENOENT");
    expect((await empty.run(["org", "add", "First"]).finished).exitCode).toBe(0);
  } finally {
    await empty.remove();
  }
});
