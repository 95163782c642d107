import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Finished } from "../../test/test-server.ts";
import { openConsole } from "./console.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.create();
  await server.serve();
});
afterAll(() => server.remove());

const run = (...args: string[]): Promise<Finished> => server.run(args).finished;
const json = (...args: string[]) => server.json(...args);
const list = (...args: string[]) => server.list(...args);

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
