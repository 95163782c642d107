import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { processesWorkingIn, processState } from "./process-state.ts";
import { kill, query, TestServices } from "../../../test/postgres/test-services.ts";

const run = promisify(execFile);

let here: TestServices;
beforeEach(async () => {
  here = await TestServices.create();
});
afterEach(() => here.remove());

test("the embedded PostgreSQL is durable, listens on a private socket only, runs as an unprivileged user, and stops with the service", async () => {
  const service = here.start("serve");
  const connection = await service.opened();
  const settings = await query(
    connection,
    `select name, setting from pg_settings where name in
      ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'server_encoding', 'lc_collate', 'data_checksums')
      order by name`,
  );
  expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
    data_checksums: "on",
    fsync: "on",
    full_page_writes: "on",
    listen_addresses: "",
    server_encoding: "UTF8",
    synchronous_commit: "on",
  });
  expect(
    await query(connection, "select datcollate from pg_database where datname = current_database()"),
  ).toEqual([{ datcollate: "C" }]);
  const socketDirectory = await stat(String(connection.host));
  expect(socketDirectory.mode & 0o777).toBe(0o700);
  const server = await stat(`/proc/${await here.postmasterPid()}`);
  expect(server.uid).not.toBe(0);
  expect(socketDirectory.uid).toBe(server.uid);
  expect(await service.end("SIGTERM")).toBe(0);
  expect(await processesWorkingIn(here.cluster)).toEqual([]);
  expect(await readdir(here.cluster)).not.toContain("postmaster.pid");
});

test("the service refuses a cluster in which somebody switched synchronous_commit off", async () => {
  const first = here.start("serve", ["alter database postgres set synchronous_commit = off"]);
  await first.said((line) => line.done);
  await first.end("SIGTERM");
  const second = here.start("serve");
  const { failed } = await second.said((line) => line.failed);
  expect(failed).toContain("synchronous_commit = off");
  await here.nobodyWorksHere();
});

test("kill -9 of the service leaves no server behind, although nobody starts again", async () => {
  const service = here.start("serve");
  await service.opened();
  const pid = await here.postmasterPid();
  await service.end("SIGKILL");
  await here.nobodyWorksHere();
  expect(await processState(pid)).not.toBe("running");
});

test("a server that outlived its service is stopped before a new one starts, and nothing is lost", async () => {
  const service = here.start("serve", ["create table kept (n int)"]);
  await service.said((line) => line.done);
  const connection = await service.opened();
  const orphan = await here.postmasterPid();
  // As if it had been told to end with us and did not: stopped processes act on a signal only when
  // they go on.
  process.kill(orphan, "SIGSTOP");
  await service.end("SIGKILL");
  const next = here.start("serve", ["select count(*)::int as n from kept"]);
  await next.said((line) => line.message?.includes("left behind"));
  expect(await processState(orphan)).toBe("running");
  process.kill(orphan, "SIGCONT");
  expect((await next.said((line) => line.rows)).rows).toEqual([{ n: 0 }]);
  expect(await here.postmasterPid()).not.toBe(orphan);
  expect((await next.opened()).host).toBe(connection.host);
});

test("the server killed while serving is started again, with everything committed", async () => {
  const service = here.start("serve", [
    "create table kept (n int)",
    "insert into kept select generate_series(1, 1000)",
  ]);
  const connection = await service.opened();
  await service.said((line) => line.done);
  for (const round of [1, 2]) {
    const before = await here.postmasterPid();
    kill(before);
    await service.said(
      (line) =>
        line.ready === false && service.lines.filter((other) => other.ready === false).length === round,
    );
    await service.said(
      (line) =>
        line.ready === true && service.lines.filter((other) => other.ready === true).length === round + 1,
    );
    expect(await here.postmasterPid()).not.toBe(before);
    expect(await query(connection, "select count(*)::int as n from kept")).toEqual([{ n: 1000 }]);
  }
  expect(await service.end("SIGTERM")).toBe(0);
});

test("a server that somebody else tells to stop is started again, although we are connected to it", async () => {
  const service = here.start("serve", ["create table kept (n int)", "insert into kept values (1)"]);
  const connection = await service.opened();
  await service.said((line) => line.done);
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  await client.connect();
  const before = await here.postmasterPid();
  process.kill(before, "SIGTERM");
  await service.said((line) => line.message?.includes("told to stop, and not by us"));
  await service.said(() => service.lines.filter(({ ready }) => ready === true).length === 2);
  expect(await here.postmasterPid()).not.toBe(before);
  expect(await query(connection, "select n from kept")).toEqual([{ n: 1 }]);
  expect(await service.end("SIGTERM")).toBe(0);
});

test("kill -9 of service and server together while rows are committed: every acknowledged row is there", async () => {
  let service = here.start("serve", ["create table kept (n int primary key)"]);
  await service.said((line) => line.done);
  let acknowledged = 0;
  for (let round = 0; round < 4; round += 1) {
    const connection = await service.opened();
    const client = new pg.Client(connection);
    client.on("error", () => undefined);
    await client.connect();
    const killAfter = acknowledged + 50;
    let isKilled = false;
    for (;;) {
      try {
        await client.query("insert into kept values ($1)", [acknowledged + 1]);
        acknowledged += 1;
      } catch {
        break;
      }
      if (acknowledged < killAfter || isKilled) continue;
      isKilled = true;
      kill(await here.postmasterPid());
      for (const pid of await processesWorkingIn(here.cluster)) kill(pid);
      await service.end("SIGKILL");
    }
    service = here.start("serve");
    const rows = await query(await service.opened(), "select count(*)::int as n, max(n) as last from kept");
    expect(Number(rows[0]?.["n"])).toBeGreaterThanOrEqual(acknowledged);
    acknowledged = Number(rows[0]?.["last"]);
  }
});

test("a zombie's pid in postmaster.pid does not block the start", async () => {
  const service = here.start("serve");
  await service.opened();
  await service.end("SIGTERM");
  // A parent that never reaps: its child, which runs as the server's user, stays a zombie.
  const { uid } = await stat(here.cluster);
  const python = `import os,sys,time
pid=os.fork()
if pid==0:
    os.setuid(${uid}) if os.getuid()==0 else None
    os._exit(0)
print(pid,flush=True)
time.sleep(600)`;
  const parent = spawn("python3", ["-c", python], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [text] = (await once(parent.stdout, "data")) as [Buffer];
    const zombie = Number(text.toString());
    while ((await processState(zombie)) !== "zombie") await delay(10);
    const pidFile = join(here.cluster, "postmaster.pid");
    await writeFile(
      pidFile,
      `${zombie}\n${here.cluster}\n1700000000\n5432\n${join(here.data, "postgres", "run")}\n\n\nready\n`,
    );
    await run("chown", [String(uid), pidFile]);
    await here.start("serve").opened();
  } finally {
    parent.kill("SIGKILL");
  }
});

test("an interrupted initdb starts over; a cluster without a version is not touched", async () => {
  await mkdir(join(here.data, "postgres", "initdb", "base"), { recursive: true, mode: 0o755 });
  await chmod(here.data, 0o711);
  await chmod(join(here.data, "postgres"), 0o711);
  await writeFile(join(here.data, "postgres", "initdb", "PG_VERSION"), "18\n");
  const service = here.start("serve");
  await service.opened();
  expect(await readdir(join(here.data, "postgres"))).not.toContain("initdb");
  await service.end("SIGTERM");
  await rm(join(here.cluster, "PG_VERSION"));
  const { failed } = await here.start("serve").said((line) => line.failed);
  expect(failed).toContain("contains no PostgreSQL cluster");
});

test("a cluster of another major version is refused before anything is started", async () => {
  const service = here.start("serve");
  await service.opened();
  await service.end("SIGTERM");
  await writeFile(join(here.cluster, "PG_VERSION"), "17\n");
  const { failed } = await here.start("serve").said((line) => line.failed);
  expect(failed).toContain("created by PostgreSQL 17");
  expect(failed).toContain("docs/operate.md");
});

test("Ctrl-C in the terminal reaches the service alone", async () => {
  const service = here.start("serve");
  await service.opened();
  const pid = await here.postmasterPid();
  const sessionOf = async (of: number): Promise<string | undefined> =>
    (await readFile(`/proc/${of}/stat`, "utf8")).split(") ").at(-1)?.split(" ")[3];
  expect(await sessionOf(pid)).toBe(String(pid));
  expect(await sessionOf(service.process.pid ?? 0)).not.toBe(String(pid));
});
