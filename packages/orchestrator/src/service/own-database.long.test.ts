import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SmallDisk } from "../../../host/test/small-disk.ts";
import { type OwnPostgres, startOwnPostgres, startPooler, startStandbyOf } from "../../test/own-postgres.ts";
import { TestServer } from "../../test/test-server.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { writeProof } from "../platform/health/prove-write.ts";
import { silentLogger } from "../platform/logging/logger.ts";

const run = promisify(execFile);

let server: TestServer;
let primary: OwnPostgres;
let standby: OwnPostgres;
let scratch: string;
beforeAll(async () => {
  server = await TestServer.create({ first: true });
  scratch = join(dirname(server.data), "own");
  await mkdir(scratch);
  primary = await startOwnPostgres(join(scratch, "primary"));
  standby = await startStandbyOf(primary, join(scratch, "standby"));
});
afterAll(async () => {
  await standby.stop();
  await primary.stop();
  await server.remove();
});

/** The status, and what is said of it. */
async function readinessOf(of: TestServer): Promise<[number, unknown]> {
  const { status, body } = await of.send("GET", "/readyz");
  const said = JSON.parse(body.toString()) as { status?: string; message?: string };
  return [status, said.status ?? said.message];
}
const readiness = (): Promise<[number, unknown]> => readinessOf(server);
const ready = async (): Promise<number> => (await readiness())[0];
/** As it is written in docs/runbooks. */
async function statementOf(page: string, name: string): Promise<string> {
  const text = await readFile(join(import.meta.dirname, `../../../../docs/runbooks/${page}.md`), "utf8");
  const block = new RegExp(`<!-- runs: ${name} -->\n+\\s*\`\`\`sql\n([^]*?)\`\`\``).exec(text)?.[1];
  if (block === undefined) throw new Error(`${page}.md has no statement called ${name}`);
  return block;
}
const scrape = async (): Promise<string> => (await server.send("GET", "/metrics")).body.toString();
const both = (attributes = ""): string =>
  `postgresql://postgres:superuser@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres${attributes}`;

test("a pooler that gives each transaction another session is refused, and one that pools sessions is not", async () => {
  for (const mode of ["transaction", "statement"] as const) {
    const pooler = await startPooler(primary, mode, join(scratch, mode));
    // A command, too, would work as whatever role another connection has set.
    for (const command of [["serve"], ["org", "list"]]) {
      const { exitCode, stderr } = await server.run(command, { DATABASE_URL: pooler.url }).finished;
      expect([exitCode, stderr], mode).toEqual([2, expect.stringContaining("pool_mode = session")]);
    }
    await pooler.stop();
  }
  const pooler = await startPooler(primary, "session", join(scratch, "session"));
  const running = await server.serve({ DATABASE_URL: pooler.url });
  expect(await ready()).toBe(200);
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
  await pooler.stop();
});

test("a start whose database does not let the service in says why and what to do, and ends with 2", async () => {
  await primary.query("create role shut login password 'shut' connection limit 0");
  await primary.query("create role out nologin password 'out'");
  const url = (user: string, password: string, { port }: OwnPostgres, database = "postgres"): string =>
    `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
  const cases: [string, RegExp][] = [
    [
      url("postgres", "guess", primary),
      /password authentication failed.* Check the user and the password in DATABASE_URL/,
    ],
    [url("postgres", "superuser", primary, "gone"), /database "gone" does not exist.* Create the database/],
    [url("out", "out", primary), /role "out" is not permitted to log in.* pg_hba\.conf/],
    [url("shut", "shut", primary), /too many connections for role "shut".* CONNECTION LIMIT/],
    [
      url("postgres", "superuser", standby),
      /accepts no writes.* Name the server that accepts writes in DATABASE_URL/,
    ],
  ];
  for (const [DATABASE_URL, says] of cases)
    for (const command of [["serve"], ["org", "list"]]) {
      const { exitCode, stderr } = await server.run(command, { DATABASE_URL }).finished;
      expect([exitCode, stderr], DATABASE_URL).toEqual([2, expect.stringMatching(says)]);
      expect(stderr).toContain("DATABASE_URL names 127.0.0.1:");
      expect(stderr).not.toMatch(/guess|superuser|shut@|\n {4}at /);
    }
});

test("doctor warns of a role or database that may have fewer connections than the service opens", async () => {
  await primary.query("create role few login password 'few' connection limit 12 in role pg_read_all_data");
  // Before the first start, doctor looks at nothing.
  await mkdir(server.data, { recursive: true });
  const doctor = async (): Promise<string> => {
    const DATABASE_URL = `postgresql://few:few@127.0.0.1:${primary.port}/postgres`;
    return (await server.run(["doctor"], { DATABASE_URL }).finished).stdout;
  };
  expect(await doctor()).toMatch(/^WARNING +connections +.* 12 connections.* up to 20/m);
  await primary.query("alter role few connection limit 20");
  expect(await doctor()).not.toMatch(/ connections +/);
  await primary.query("alter database postgres connection limit 15");
  expect(await doctor()).toMatch(/^WARNING +connections +.* 15 connections.* up to 20/m);
  await primary.query("alter database postgres connection limit -1");
});

test("a database that does not let a running service in any more makes it not ready, and the service goes on when it does", async () => {
  await primary.query("create role working superuser login password 'working'");
  const running = await server.serve({
    DATABASE_URL: `postgresql://working:working@127.0.0.1:${primary.port}/postgres`,
  });
  expect(await readiness()).toEqual([200, "ready"]);
  const disconnect =
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'working' and pid <> pg_backend_pid()";
  await primary.query("alter role working password 'another'");
  await primary.query(disconnect);
  await expect.poll(readiness).toEqual([503, "The database does not accept the service's password."]);
  const answer = await server.send("POST", "/api/auth/login", { email: "ada@example.org" });
  expect([answer.status, answer.body.toString()]).toEqual([503, expect.stringContaining('"unavailable"')]);
  await primary.query("alter role working password 'working'");
  await expect.poll(readiness).toEqual([200, "ready"]);
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
});

test("a service is not ready while its database is read-only, or its commits wait, and says why", async () => {
  const running = await server.serve({ DATABASE_URL: primary.url });
  expect(await Promise.all(Array.from({ length: 20 }, readiness))).toEqual(Array(20).fill([200, "ready"]));
  const set = async (setting: string): Promise<void> => {
    await primary.query(`alter system ${setting}`);
    await primary.query("select pg_reload_conf()");
  };
  await set("set default_transaction_read_only = on");
  await expect.poll(readiness).toEqual([503, "The database is read-only."]);
  await set("reset default_transaction_read_only");
  await expect.poll(readiness).toEqual([200, "ready"]);
  await set("set synchronous_standby_names = 'nobody'");
  await expect.poll(readiness).toEqual([503, "The database did not finish a write within two seconds."]);
  // Jobs take the connections that the metrics need too; Prometheus waits ten seconds for a scrape.
  await expect.poll(scrape).toMatch(/_connections_waiting\{pool="jobs"\} [1-9]/);
  expect(
    (await primary.query(await statementOf("database-connections-exhausted", "sessions")))[0]?.rows,
  ).toEqual(
    expect.arrayContaining([expect.objectContaining({ wait_event: "SyncRep", usename: "postgres" })]),
  );
  expect((await primary.query(await statementOf("standby-not-awaited", "standbys")))[0]?.rows).toMatchObject([
    { application_name: "walreceiver", state: "streaming", sync_state: "async" },
  ]);
  const since = performance.now();
  expect(await scrape()).toMatch(/^attestore_ready 0$/m);
  expect(performance.now() - since).toBeLessThan(9_000);
  // However often somebody asks, one connection at most waits for the standby.
  const access = connectDatabase({ connection: { connectionString: primary.url }, log: silentLogger });
  const prove = writeProof(access.pool, () => null);
  for (let round = 0; round < 2; round += 1)
    expect(await Promise.all(Array.from({ length: 20 }, prove))).not.toContain(null);
  expect(access.pool.totalCount).toBe(1);
  await set("reset synchronous_standby_names");
  await expect.poll(readiness).toEqual([200, "ready"]);
  expect(await scrape()).toMatch(/^attestore_ready 1$/m);
  await access.close();
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
});

test("a service is not ready while its database's disk is full, and says so", async () => {
  const directory = join(scratch, "disk");
  await mkdir(directory);
  using disk = new SmallDisk(directory, { bytes: 200 << 20, mode: "0755", isLazy: true });
  const full = await startOwnPostgres(join(directory, "full"));
  const other = await TestServer.create({ first: true });
  try {
    await other.serve({ DATABASE_URL: full.url });
    const ask = async (): Promise<unknown[]> => readinessOf(other);
    expect(await ask()).toEqual([200, "ready"]);
    disk.fill();
    await expect.poll(ask).toEqual([503, expect.stringContaining("disk is full")]);
    disk.empty();
    await expect.poll(ask).toEqual([200, "ready"]);
  } finally {
    await other.remove();
    await full.stop();
  }
});

test("a replica with another tls/ says so at its start, and doctor says so of the others", async () => {
  const environment = { DATABASE_URL: primary.url };
  const first = await server.serve(environment);
  const other = await TestServer.create({ first: true });
  try {
    await mkdir(other.data);
    await run("cp", ["-a", join(server.data, "keys"), other.data]);
    const second = await other.serve(environment);
    await second.said("Replicas need the same tls/");
    const doctor = await server.run(["doctor", "--json"], environment).finished;
    const { findings } = JSON.parse(doctor.stdout) as { findings: unknown[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: "authority", level: "warning" }));
    second.process.kill("SIGTERM");
    await second.finished;
    // With the same one, nobody has anything to say.
    await run("rm", ["-r", join(other.data, "tls")]);
    await run("cp", ["-a", join(server.data, "tls"), other.data]);
    await other.serve(environment);
    const again = await server.run(["doctor", "--json"], environment).finished;
    expect(again.stdout).not.toContain('"authority"');
  } finally {
    await other.remove();
  }
  first.process.kill("SIGTERM");
  expect((await first.finished).exitCode).toBe(0);
});

test("a standby alone is refused, by its name", async () => {
  const alone = `${standby.url}?target_session_attrs=read-write`;
  const { exitCode, stderr } = await server.run(["serve"], { DATABASE_URL: alone }).finished;
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining(`127.0.0.1:${standby.port} (it is read-only`),
  ]);
  expect(stderr).not.toContain("superuser");
});

test("of several servers the service uses the one that accepts writes, and after a failover the new one", async () => {
  const environment = { DATABASE_URL: both("?target_session_attrs=read-write") };
  // Commits wait for the standby, so that it has all that was acknowledged.
  await primary.query("alter system set synchronous_standby_names = '*'");
  await primary.query("select pg_reload_conf()");
  const running = await server.serve(environment);
  expect(await ready()).toBe(200);
  const add = async (name: string): Promise<string> => {
    const { exitCode, stderr } = await server.run(["org", "add", name], environment).finished;
    expect(exitCode, stderr).toBe(0);
    return name;
  };
  const before = await add("Before");
  await primary.crash();
  await expect.poll(ready).toBe(503);
  await standby.query("select pg_promote()");
  await expect.poll(ready).toBe(200);
  const after = await add("After");
  const [orgs] = await standby.query("select name from orgs order by name");
  expect(orgs?.rows.map(({ name }: { name: string }) => name)).toEqual([after, before]);
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
});
