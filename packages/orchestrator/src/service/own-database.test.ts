import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OwnPostgres, startOwnPostgres, startPooler, startStandbyOf } from "../../test/own-postgres.ts";
import { TestServer } from "../../test/test-server.ts";

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

const ready = async (): Promise<number> => (await server.send("GET", "/readyz")).status;
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
  await expect.poll(ready, { timeout: 20_000 }).toBe(503);
  await standby.query("select pg_promote()");
  await expect.poll(ready, { timeout: 20_000 }).toBe(200);
  const after = await add("After");
  const [orgs] = await standby.query("select name from orgs order by name");
  expect(orgs?.rows.map(({ name }: { name: string }) => name)).toEqual([after, before]);
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
});
