import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { dumpsIn } from "./dumps-in.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/** Good dumps of MariaDB or MySQL by its own program, with options that ours are not made with. */

let place: TestPlace;
let server: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir, ["--skip-networking", "--log-bin", "--server-id=1"]);
  mkdirSync(join(place.dir, "dumps"));
  server.sql(`create database shop character set utf8mb4; use shop;
    create table orders (id int primary key, note varchar(50)); insert into orders values (1, 'é');
    create trigger shop.kept before insert on shop.orders for each row set new.note = upper(new.note);
    create procedure sweep() delete from orders where id > 1000; alter database shop character set latin1`);
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
});

async function dumpedWith(...args: readonly string[]): Promise<RestoreTestResult> {
  const common = ["--no-defaults", `--socket=${server.socket}`, "--user=root"];
  const dumps = join(place.dir, "dumps");
  const program = server.product === "MySQL" ? "mysqldump" : "mariadb-dump";
  writeFileSync(join(dumps, "a.dump"), execFileSync(program, [...common, ...args], { maxBuffer: 64 << 20 }));
  const source = dumpsIn(dumps, { pattern: "*.dump" });
  return testBackup(place, source, await backUp(place, source));
}

test("of one database, which its statements name although it does not make it", async () => {
  const tested = await dumpedWith("--routines", "shop");
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toMatch(/^content of 1 table compared; 4 objects compared/);
});

test("of the whole server, whose own databases are left out", async () => {
  const tested = await dumpedWith("--all-databases", "--routines");
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toMatch(/^content of 1 table compared; 4 objects compared/);
});

test("with names in double quotes, whose objects are not compared", async () => {
  // With these quotes, MySQL's program cannot list tablespaces, and writes triggers that no
  // server takes.
  const without = server.product === "MySQL" ? ["--no-tablespaces", "--skip-triggers"] : [];
  const tested = await dumpedWith(...without, "--compatible=ansi", "--databases", "shop");
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toMatch(/^content not compared/);
});

test("with statements for an administrator, it could not be tested, and the message says what to leave out", async () => {
  const place = server.product === "MySQL" ? "--source-data" : "--master-data";
  await expect(dumpedWith(place, "--databases", "shop")).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("Make the dump without that") as string,
  });
});
