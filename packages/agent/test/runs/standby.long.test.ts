import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { comparedContentText } from "@attestore/proof";
import { findInstallations } from "../../src/engines/postgresql/connection/installations.ts";
import { PsqlSession } from "../../src/engines/postgresql/connection/psql-session.ts";
import { requireFollowing } from "../../src/engines/postgresql/dump/standby.ts";
import { programsIn } from "../../src/processes/run-program.ts";
import type { Place } from "../../src/sandboxes/place.ts";
import { openProcessPlace } from "../../src/sandboxes/process/process-place.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/**
 * A standby of PostgreSQL is backed up as long as it follows its primary. Transactions that are
 * prepared are seen at the primary only.
 */

const never = new AbortController().signal;
const DAY_MS = 24 * 3600 * 1000;
const PORTS = { primary: "5432", standby: "5433" } as const;
let bin: string;
let own: TestPlace;
let place: Place;

beforeAll(async () => {
  const [installation] = await findInstallations(["postgres", "initdb", "pg_basebackup"]);
  if (installation === undefined) throw new Error("no PostgreSQL is installed: run tools/setup test");
  bin = installation.bin;
  own = await makeTestPlace();
  place = await openProcessPlace(own.dir);
  await run("initdb", "--no-sync", "--auth=trust", "--username=postgres", `--pgdata=${data("primary")}`);
  await start("primary");
  await run(
    "pg_basebackup",
    `--host=${place.sockets}`,
    "--username=postgres",
    "--checkpoint=fast",
    "--no-sync",
    "--write-recovery-conf",
    `--pgdata=${data("standby")}`,
  );
  await start("standby");
  sql(
    "primary",
    "create table orders as select generate_series(1, 500) as id; create unlogged table fast as select 1 as id",
  );
});

afterAll(async () => {
  await place?.close();
  await own?.remove();
});

type Which = keyof typeof PORTS;
const data = (which: Which): string => join(place.home, which);

async function run(name: string, ...args: string[]): Promise<void> {
  const child = await place.start({ command: join(bin, name), args, signal: never });
  child.stdin.end();
  await text(child.stdout);
  const exit = await child.exited;
  if (exit.code !== 0) throw new Error(exit.stderr);
}

async function start(which: Which): Promise<void> {
  const settings = `port = ${PORTS[which]}\nmax_prepared_transactions = 2\nunix_socket_directories = '${place.sockets}'\nlisten_addresses = ''\nfsync = off\n`;
  appendFileSync(join(data(which), "postgresql.conf"), settings);
  await run("pg_ctl", "--wait", `--pgdata=${data(which)}`, `--log=${data(which)}.log`, "start");
}

function sql(which: Which, statement: string, database = "postgres"): string {
  const args = [
    "-XqAt",
    `--host=${place.sockets}`,
    `--port=${PORTS[which]}`,
    "--username=postgres",
    `--dbname=${database}`,
    `--command=${statement}`,
  ];
  return execFileSync(join(bin, "psql"), args, { encoding: "utf8" }).trim();
}

const source = (which: Which = "standby") => {
  const host = encodeURIComponent(place.sockets);
  const url = `postgresql://postgres@/postgres?host=${host}&port=${PORTS[which]}`;
  return {
    slug: "orders",
    engine: "postgresql",
    sandbox: "process",
    checkTimeout_s: 60,
    checks: [],
    connection: { kind: "url", url },
    databases: null,
    globals: false,
    jobs: 1,
  } as const;
};

async function asOf(now: number): Promise<void> {
  const env = { PGHOST: place.sockets, PGPORT: PORTS.standby, PGUSER: "postgres", PGDATABASE: "postgres" };
  const session = await PsqlSession.open(programsIn(bin), env, never, { onlyReads: true });
  try {
    await requireFollowing(session, now);
  } finally {
    await session.close();
  }
}

test("a standby comes back, and its unlogged tables, which it does not have, are named", async () => {
  await expect.poll(() => sql("standby", "select to_regclass('fast')")).toBe("fast");
  const made = await backUp(own, source());
  const tested = await testBackup(own, source(), made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:content")?.observed).toMatchObject({
    tables: 1,
    not_compared_tables: "public.fast (not_in_dump)",
  });
});

test("a backup has the rows from before what is prepared, its test passes, and names that it lacks it", async () => {
  const named = async (which: Which): Promise<string> => {
    const made = await backUp(own, source(which));
    const tested = await testBackup(own, source(which), made);
    expect(tested.reason).toBeUndefined();
    expect(tested.checks.find(({ id }) => id === "inferred:rows:public.orders")?.observed).toMatchObject({
      rows: 500,
    });
    return comparedContentText(tested.checks);
  };
  sql("primary", "begin; insert into orders values (501); prepare transaction 'sale'");
  const there = ", not compared: all of the kind prepared transaction;";
  const unseen = ", not compared: prepared transactions (the server does not show them);";
  try {
    expect(await named("primary")).toContain(there);
    expect(await named("standby")).toContain(unseen);
  } finally {
    sql("primary", "rollback prepared 'sale'");
  }
  // That of another database is none of this one's rows.
  sql("primary", "create database other");
  const elsewhere = "begin; create table t (); prepare transaction 'elsewhere'";
  sql("primary", elsewhere, "other");
  expect(await named("primary")).not.toContain("prepared");
  sql("primary", "rollback prepared 'elsewhere'", "other");
});

test("a standby that follows is backed up however long its primary was idle; one that does not, for 8 days", async () => {
  const later = Date.now() + 9 * DAY_MS;
  await expect
    .poll(() =>
      asOf(later).then(
        () => "follows",
        () => "does not",
      ),
    )
    .toBe("follows");
  sql("standby", "select pg_wal_replay_pause()");
  sql("primary", "insert into orders values (501)");
  await asOf(Date.now());
  await expect(asOf(later)).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringContaining("does not follow its primary") as string,
  });
  sql("standby", "select pg_wal_replay_resume()");
  await run("pg_ctl", "--mode=immediate", `--pgdata=${data("primary")}`, "stop");
  await expect.poll(() => sql("standby", "select count(*) from pg_stat_wal_receiver")).toBe("0");
  await asOf(Date.now());
  await expect(asOf(later)).rejects.toMatchObject({ code: "source_missing" });
});
