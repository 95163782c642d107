import { newId } from "@attestore/contract";
import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
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

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await run(...args, "--json");
  expect([exitCode, stderr], stdout + stderr).toEqual([0, ""]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function list(...args: string[]): Promise<Record<string, unknown>[]> {
  return (await json(...args)) as unknown as Record<string, unknown>[];
}

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

/** Without a mail server, the service writes its mails into files. */
async function mailedCode(email: string): Promise<string | undefined> {
  const directory = join(server.data, "mail");
  const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(".eml"));
  const mails = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  const mail = mails.find((text) => text.toLowerCase().includes(email));
  return mail === undefined ? undefined : /^ {4}([A-Z0-9]{4}-[A-Z0-9]{4})\r?$/m.exec(mail)?.[1];
}

describe("who may open an organisation", () => {
  const signIn = async (email: string): Promise<Record<string, unknown>> => {
    const attempt = "an-attempt-at-the-console";
    expect((await server.send("POST", "/api/auth/login", { email, attempt })).status).toBe(202);
    let code: string | undefined;
    await expect.poll(async () => (code = await mailedCode(email))).toBeDefined();
    const answer = await server.send("POST", "/api/auth/verify", { email, code, attempt });
    expect(answer.status, answer.body.toString()).toBe(200);
    return JSON.parse(answer.body.toString()) as Record<string, unknown>;
  };

  test("its owner is named when it is created, and signs in with a mailed code", async () => {
    const made = await json("org", "add", "Owned", "--owner", "Ada@example.org");
    expect(made).toMatchObject({ owner: { email: "Ada@example.org", role: "owner", status: "active" } });
    expect(await signIn("ada@example.org")).toMatchObject({ user: { role: "owner", org_id: made["id"] } });
  });

  test("an organisation without anybody says how to let somebody in", async () => {
    const { stdout, stderr } = await run("org", "add", "Deserted");
    expect(stderr).toContain("attestore-server user add you@example.org --org deserted --role owner");
    const id = stdout.trim();
    expect((await run("user", "list", "--org", "deserted")).stderr).toContain("Nobody can open");
    const added = await json("user", "add", "bob@example.org", "--org", "deserted", "--role", "auditor");
    expect(await list("user", "list", "--org", "deserted")).toEqual([added]);
    expect(await signIn("bob@example.org")).toMatchObject({ user: { role: "auditor", org_id: id } });
    const again = await run("user", "add", "BOB@example.org", "--org", "deserted", "--role", "owner");
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("already has a member")]);
  });

  test("a wrong address creates nothing, and a wrong role is a wrong call", async () => {
    const { exitCode, stderr } = await run("org", "add", "Nobodys", "--owner", "no address");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("is not an e-mail address")]);
    expect((await list("org", "list")).map(({ name }) => name)).not.toContain("Nobodys");
    expect(
      (await run("user", "add", "eve@example.org", "--org", "owned", "--role", "operator")).exitCode,
    ).toBe(2);
  });
});

test("commands in a shell without the service's settings print the address that it has", async () => {
  const bare = { ATTESTORE_LISTEN: "", ATTESTORE_PUBLIC_URL: "" };
  const created = await server.run(["auth-key", "create", "--org", orgId], bare).finished;
  expect(created.stderr).toContain(`--service https://localhost:${server.port} `);
  const doctor = await server.run(["doctor"], bare).finished;
  expect(doctor.stdout).toContain(`It runs on 127.0.0.1:${server.port}, and is ready.`);
});

/**
 * `attestore-server trust` and other programs on a machine of their own: what they do to the trust
 * store stays there.
 */
async function onOwnMachine(script: string, user = "root"): Promise<{ code: number; out: string }> {
  const rights = process.getuid?.() === 0 ? ["-m"] : ["-r", "-m"];
  const stores = [
    "mount -t tmpfs none /usr/local/share/ca-certificates",
    "mount -t tmpfs none /etc/ssl/certs",
    // With one public authority, because all of them take most of the time.
    "grep -m 1 '^mozilla/' /etc/ca-certificates.conf >/etc/ssl/certs/one; mount --bind /etc/ssl/certs/one /etc/ca-certificates.conf",
    `trust() { "${process.execPath}" "${inject("service")}" trust "$@"; }`,
    `get() { curl -sS -o /dev/null --resolve localhost:${server.port}:127.0.0.1 https://localhost:${server.port}/healthz; }`,
  ];
  const asUser = user === "root" ? [] : ["unshare", "-U", "--map-user=1234"];
  const command = [
    ...asUser,
    "bash",
    "-euc",
    [...(user === "root" ? stores : stores.slice(3)), script].join("\n"),
  ];
  const child = spawn("unshare", [...rights, ...command], {
    env: { PATH: process.env["PATH"], ATTESTORE_DATA: server.data },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, [code]] = await Promise.all([
    readText(child.stdout).then(async (text) => text + (await readText(child.stderr))),
    once(child, "close") as Promise<[number]>,
  ]);
  return { code, out };
}

describe("the service's own certificate authority", () => {
  test("is trusted by the machine's programs on request, and no longer after --undo", async () => {
    const { code, out } = await onOwnMachine(`
      trust --undo --json; trust --json; get && echo reached
      trust --json; trust --undo; get || echo "refused $?"; find /usr/local/share/ca-certificates /etc/ssl/certs -name '*attestore*'`);
    expect(code, out).toBe(0);
    const { fingerprint256 } = new X509Certificate(await readFile(join(server.data, "tls", "ca.pem")));
    expect(out.match(/"changed": \w+/g)).toEqual(['"changed": false', '"changed": true', '"changed": false']);
    expect(out).toContain(`"ca_sha256": "${fingerprint256}"`);
    expect(out).toMatch(/reached\n[^]*refused 60\n/);
    expect(out).toContain("no longer trusts the service's authority");
    expect(out).not.toMatch(/^\/.*attestore/m);
  });

  test("is not installed without root, or if it is something else, and the message says what to do", async () => {
    const refused = await onOwnMachine("trust", "nobody");
    expect(refused.code).toBe(2);
    expect(refused.out).toContain(`sudo ATTESTORE_DATA=${server.data} ${process.execPath} `);
    const other = await onOwnMachine(`
      ls /usr/local/share/ca-certificates
      export ATTESTORE_DATA=$(mktemp -d); mkdir $ATTESTORE_DATA/tls; trap 'rm -r $ATTESTORE_DATA' EXIT
      trust || echo "ended $?"
      head -c 100 /etc/passwd >$ATTESTORE_DATA/tls/ca.pem; trust || echo "ended $?"
      rm $ATTESTORE_DATA/tls/ca.pem; mkfifo $ATTESTORE_DATA/tls/ca.pem; trust || echo "ended $?"
      ls /usr/local/share/ca-certificates`);
    expect(other.out.match(/ended 2/g)).toHaveLength(3);
    expect(other.out).toContain("the service makes it on its first start");
    expect(other.out).toContain("is not the certificate of a certificate authority");
    expect(other.out).not.toMatch(/root:|\.crt/);
  });
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

describe("operators", () => {
  test("are added once, whatever the case of the address", async () => {
    expect(await json("operator", "add", "Ada@Example.org", "--name", "Ada")).toMatchObject({
      email: "Ada@Example.org",
      role: "operator",
    });
    expect((await run("operator", "add", "ada@example.ORG")).exitCode).toBe(1);
    expect((await run("operator", "add", "no address")).exitCode).toBe(1);
    expect(await list("operator", "list")).toMatchObject([{ email: "Ada@Example.org", name: "Ada" }]);
  });

  test("people who lost their passkeys and recovery codes get in again from the console, which is recorded and mailed", async () => {
    const email = "Lost@Example.org";
    const { id } = await json("operator", "add", email);
    const opened = await openConsole({
      ...process.env,
      ATTESTORE_DATA: server.data,
      ATTESTORE_LISTEN: `127.0.0.1:${server.port}`,
    });
    try {
      const { pool } = opened;
      const of = [email.toLowerCase(), Buffer.alloc(32, 5)];
      await pool.query("insert into passkey_owners (email, handle) values ($1, $2)", of);
      await pool.query(
        `insert into passkeys (id, email, credential_id, public_key, counter, transports, synced, name)
         values ('psk_lost', $1, $2, $2, 0, '{}', false, 'Lost')`,
        of,
      );
      await pool.query("insert into recovery_codes (email, code_sha256) values ($1, $2)", of);
      await pool.query(
        "insert into sessions (token_sha256, user_id, expires_at, signed_in_with) values ($1, $2, now() + interval '1 day', 'passkey')",
        [Buffer.alloc(32, 6), id],
      );
      expect(await json("passkey", "reset", email)).toEqual({ email, passkeys_removed: 1 });
      const { rows } = await pool.query(
        `select (select count(*) from passkeys where email = $1)::int + (select count(*) from recovery_codes where email = $1)::int
           + (select count(*) from sessions where user_id = $2 and ended_at is null)::int as left,
           (select count(*)::int from api_logs where actor_kind = 'console' and route = 'passkey reset') as recorded`,
        [email.toLowerCase(), id],
      );
      expect(rows).toEqual([{ left: 0, recorded: 1 }]);
    } finally {
      await opened.close();
    }
    const again = await run("passkey", "reset", email);
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      `There is no such person with a passkey as ${email}.\n`,
    ]);
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
