import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import { openDatabase } from "./open-database.ts";
import { processesWorkingIn } from "./process-state.ts";
import { connectStandby } from "../../../test/postgres/standby.ts";
import { query, TestServices } from "../../../test/postgres/test-services.ts";

let here: TestServices;
beforeEach(async () => {
  here = await TestServices.create();
});
afterEach(() => here.remove());

test("one service uses a directory: the second is refused, and takes over after the first was killed", async () => {
  const first = here.start("serve", ["create table kept (n int)", "insert into kept values (1)"]);
  await first.said((line) => line.done);
  const second = here.start("serve");
  const { failed } = await second.said((line) => line.failed);
  expect(failed).toContain(`process ${first.process.pid}`);
  await first.end("SIGKILL");
  const third = here.start("serve", ["select n from kept"]);
  expect((await third.said((line) => line.rows)).rows).toEqual([{ n: 1 }]);
});

test("a command uses the database of a running service, and starts it itself when none runs", async () => {
  const alone = here.start("command", ["create table kept (n int)"]);
  expect(await alone.ended).toBe(0);
  expect(await processesWorkingIn(here.cluster)).toEqual([]);
  const service = here.start("serve");
  await service.opened();
  const pid = await here.postmasterPid();
  const commands = Array.from({ length: 3 }, () => here.start("command", ["insert into kept values (1)"]));
  for (const command of commands) expect(await command.ended).toBe(0);
  expect(await here.postmasterPid()).toBe(pid);
  expect(await query(await service.opened(), "select count(*)::int as n from kept")).toEqual([{ n: 3 }]);
});

test("commands and a service that start at once wait for each other", async () => {
  await here.start("command").ended;
  const commands = Array.from({ length: 3 }, () => here.start("command", ["select 1 as one"]));
  const service = here.start("serve");
  for (const command of commands) {
    expect(await command.ended, JSON.stringify(command.lines.at(-1))).toBe(0);
    expect(command.lines.some((line) => line.rows !== undefined)).toBe(true);
  }
  await service.opened();
});

test("DATABASE_URL: no server of its own, one service on the directory, durable commits or none", async () => {
  const server = here.start("serve");
  const { host } = await server.opened();
  const databaseUrl = `postgresql://attestore@${encodeURIComponent(String(host))}/postgres`;
  const dataDirectory = join(here.root, "replica");
  const open = (role: "serve" | "command") =>
    openDatabase({ dataDirectory, databaseUrl, role, log: silentLogger });

  const first = await open("serve");
  expect(await query(first.connection, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await readdir(dataDirectory)).toEqual(["owner.json", "owner.lock"]);
  await expect(open("serve")).rejects.toMatchObject({ code: "data_directory_in_use" });
  await (await open("command")).close();
  await first.close();

  const warnings: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object) => warnings.push(fields) };
  const standby = await connectStandby(await server.opened(), here.cluster);
  await (await openDatabase({ dataDirectory, databaseUrl, role: "serve", log })).close();
  expect(warnings).toEqual([{ standbys: 1 }]);
  await standby.end();

  await query(await server.opened(), "alter database postgres set synchronous_commit = local");
  await (await open("serve")).close();
  await query(await server.opened(), "alter database postgres set synchronous_commit = off");
  await expect(open("serve")).rejects.toMatchObject({
    code: "database_unusable",
    message: expect.stringContaining("synchronous_commit = off"),
  });
  await expect(open("command")).rejects.toMatchObject({ code: "database_unusable" });
});
