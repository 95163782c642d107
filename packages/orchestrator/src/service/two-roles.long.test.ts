/**
 * A database of one's own: the two roles of docs/operate.md, and one of before that has a single
 * role which owns everything.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOwnPostgres, type OwnPostgres } from "../../test/own-postgres.ts";
import { heartbeat } from "../../test/service.ts";
import { readMigrations } from "../platform/database/migrate.ts";
import { attachBody } from "../../test/new-agent.ts";
import { TestServer, type Answer } from "../../test/test-server.ts";

const TIMEOUT_MS = 180_000;
const PAGE = new URL("../../../../docs/operate.md", import.meta.url);

let server: TestServer;
let postgres: OwnPostgres;
beforeAll(async () => {
  server = await TestServer.create({ first: true });
  postgres = await startOwnPostgres(join(dirname(server.data), "own"));
}, TIMEOUT_MS);
afterAll(async () => {
  await postgres.stop();
  await server.remove();
});

/** What the page shows under that name, with this server's address in place of the example's. */
async function shown(name: string): Promise<string> {
  const block = new RegExp(`<!-- runs: ${name} -->\n\`\`\`\\w+\n([^]*?)\`\`\``).exec(
    await readFile(PAGE, "utf8"),
  )?.[1];
  if (block === undefined) throw new Error(`docs/operate.md has nothing called ${name}`);
  return block.replaceAll("db.example.org", `127.0.0.1:${postgres.port}`);
}

const settings = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

async function json(args: string[], environment: Record<string, string>): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await server.run([...args, "--json"], environment).finished;
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout) as Record<string, unknown>;
}

const post = (path: string, token: string, body: object): Promise<Answer> =>
  server.send("POST", path, body, token);

/**
 * An organisation, its agent, and a heartbeat of it that tells of a source: reads and writes as
 * each of the service's roles.
 */
async function expectToWork(environment: Record<string, string>, org: string): Promise<void> {
  const authKey = (await json(["auth-key", "create", "--org", org], environment))["auth_key"] as string;
  const attached = await post("/api/bootstrap/attach", authKey, attachBody());
  expect(attached.status, attached.body.toString()).toBe(201);
  const { api_token: token } = JSON.parse(attached.body.toString()) as { api_token: string };
  const sources = [{ slug: "orders", engine: "postgresql" }];
  for (const _ of ["new", "routine"]) {
    const beat = await post("/v1/heartbeat", token, heartbeat({ sources }));
    expect(beat.status, beat.body.toString()).toBe(200);
  }
  const failed = { kind: "backup_failed", occurred_at: new Date().toISOString(), detail: { reason: "x" } };
  const event = await post("/v1/events", token, failed);
  expect(event.status, event.body.toString()).toBe(201);
}

interface Checked {
  check: string;
  level: string;
  message: string;
}

async function roleIn(environment: Record<string, string>): Promise<Checked | undefined> {
  const { findings } = await json(["doctor"], environment);
  return (findings as Checked[]).find(({ check }) => check === "role");
}

/**
 * As a release before that migration did: no other role was made than those that the migrations
 * make themselves.
 */
async function migrateAsBefore(connectionString: string, end: number): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(
    "create table schema_migrations (version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())",
  );
  for (const { version, name, sql, sha256 } of await readMigrations()) {
    if (version >= end) continue;
    await client.query("begin");
    await client.query(sql);
    await client.query("insert into schema_migrations (version, name, sha256) values ($1, $2, $3)", [
      version,
      name,
      sha256,
    ]);
    await client.query("commit");
  }
  await client.end();
}

test(
  "the SQL and the settings of docs/operate.md make a service whose role owns nothing",
  async () => {
    await postgres.query("select");
    for (const statement of (await shown("two-roles")).split(";"))
      if (statement.replaceAll(/--.*$/gm, "").trim() !== "") await postgres.query(statement);
    const environment = settings(await shown("two-roles-settings"));
    const running = await server.serve(environment);
    const org = (await json(["org", "add", "Two roles"], environment))["id"] as string;
    await expectToWork(environment, org);
    expect(await roleIn(environment)).toMatchObject({ level: "ok" });
    running.process.kill("SIGTERM");
    const { exitCode, stdout } = await running.finished;
    expect([exitCode, stdout]).toEqual([0, expect.not.stringMatching(/permission denied|"level":"error"/)]);
    const [owned] = await postgres.query(
      "select rolname from pg_class join pg_roles on pg_roles.oid = relowner where rolname like 'attestore_%'",
      "attestore",
    );
    expect(owned?.rows).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "such a service is backed up as its tables' owner, and restored into another empty database, without a password in the arguments",
  async () => {
    const environment = settings(await shown("two-roles-settings"));
    const root = dirname(server.data);
    const identity = await generateX25519Identity();
    await writeFile(join(root, "recovery.key"), `${identity}\n`);
    const backup = ["service", "backup", "--to", join(root, "backups"), "--recipient"];
    const recipient = await identityToRecipient(identity);
    // A job by the clock writes to no directory in the place of a disk that is not mounted.
    const early = await server.run([...backup, recipient], environment).finished;
    expect([early.exitCode, early.stderr]).toEqual([
      2,
      expect.stringContaining(`There is no directory ${join(root, "backups")} (--to). If it is on a disk`),
    ]);
    await mkdir(join(root, "backups"));
    // The service's own role sees no rows without an organisation.
    const { exitCode, stderr } = await server.run([...backup, recipient], {
      DATABASE_URL: environment["DATABASE_URL"],
    }).finished;
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("ATTESTORE_MIGRATIONS_DATABASE_URL")]);
    const made = await json([...backup, recipient], environment);
    expect(made).toMatchObject({ logs: 1, entries: 2 });

    await postgres.query("create database restored owner attestore");
    const elsewhere = new TestServer(join(root, "restored"), server.port);
    const other = Object.fromEntries(
      Object.entries(environment).map(([name, url]) => [name, url.replace(/\/attestore$/, "/restored")]),
    );
    const restore = ["service", "restore", String(made["path"]), "--identity", join(root, "recovery.key")];
    const refused = await elsewhere.run(restore, environment).finished;
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("is not empty")]);
    const restored = await elsewhere.run([...restore, "--json"], other).finished;
    expect(restored.exitCode, restored.stderr).toBe(0);
    expect(JSON.parse(restored.stdout)).toMatchObject({
      logs: 1,
      entries: 2,
      logs_set_back: [],
      findings: 0,
    });
    const running = await elsewhere.serve(other);
    running.process.kill("SIGTERM");
    expect((await running.finished).exitCode).toBe(0);
  },
  TIMEOUT_MS,
);

test(
  "a database of before, whose one role owns everything and may create none, goes on once a superuser has run what the start says",
  async () => {
    await postgres.query("create role former login nosuperuser nocreaterole password 'former'");
    await postgres.query("create database former owner former");
    const url = `postgresql://former:former@127.0.0.1:${postgres.port}/former`;
    // Of the release before there was one role, and this of what it made.
    await postgres.query("create role attestore_tenant nologin").catch(() => undefined);
    await postgres.query("grant attestore_tenant to former");
    await migrateAsBefore(url, 49);
    const org = "org_01h455vb4pex5vsknk084sn02q";
    await postgres.query(
      `set role former;
       insert into orgs (id, name, slug) values ('${org}', 'Former', 'former');
       insert into logs (org_id, origin, root_hash) values ('${org}', 'localhost/${org}', sha256(''));
       insert into log_heads (org_id, tree_size, root_hash, recorded_at) values ('${org}', 0, sha256(''), now())`,
      "former",
    );
    server = new TestServer(join(dirname(server.data), "former"), server.port);
    const environment = { DATABASE_URL: url };
    const refused = await server.run(["serve"], environment).finished;
    const remedy = /try again: (.*;)/.exec(refused.stderr)?.[1] ?? "";
    expect([refused.exitCode, remedy]).toEqual([2, expect.stringContaining("to former;")]);
    await postgres.query(remedy);
    const running = await server.serve(environment);
    await expectToWork(environment, org);
    expect(await roleIn(environment)).toMatchObject({
      level: "warning",
      message: expect.stringContaining("owns the tables") as unknown,
    });
    running.process.kill("SIGTERM");
    const { exitCode, stdout } = await running.finished;
    expect([exitCode, stdout]).toEqual([0, expect.not.stringMatching(/permission denied|"level":"error"/)]);
  },
  TIMEOUT_MS,
);
