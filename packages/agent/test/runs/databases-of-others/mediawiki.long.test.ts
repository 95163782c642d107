import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../source-mariadb.ts";
import { type SourcePostgres, startSourcePostgres } from "../source-postgres.ts";
import { runPhp, unpackedPrograms } from "./programs.ts";
import { everythingCompared } from "./whole-comparison.ts";

let place: TestPlace;
let server: SourcePostgres;
let mariadb: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  [server, mariadb] = await Promise.all([startSourcePostgres(place.dir), startSourceMariadb(place.dir)]);
});
afterAll(async () => {
  await Promise.all([server?.close(), mariadb?.close()]);
  await place?.remove();
});

/** Its own installer makes MediaWiki's database, with its first user and page. */
function installMediawiki(options: readonly string[]): void {
  const programs = unpackedPrograms();
  const installed = join(place.dir, "mediawiki");
  mkdirSync(installed, { recursive: true });
  runPhp(programs, place.dir, [
    join(programs, "usr/share/mediawiki/maintenance/install.php"),
    ...options,
    "--dbname=wiki",
    `--confpath=${installed}`,
    "--pass=correct horse battery",
    "Wiki",
    "Ada",
  ]);
  rmSync(installed, { recursive: true });
}

test("MediaWiki comes back on PostgreSQL and on MariaDB, with every table's rows and every object compared", async () => {
  server.sql("create database wiki template template0; create role wiki superuser login password 'wiki'");
  const host = server.environment["PGHOST"] ?? "";
  installMediawiki(["--dbtype=postgres", `--dbserver=${host}`, "--dbuser=wiki", "--dbpass=wiki"]);
  const url = server.url(server.environment["PGUSER"] ?? "", "", "wiki");
  const wiki = { ...server.source, connection: { kind: "url", url } } as const;
  installMediawiki([
    "--dbtype=mysql",
    `--dbserver=localhost:${mariadb.socket}`,
    "--dbuser=root",
    "--dbpass=",
  ]);
  for (const source of [wiki, { ...mariadb.source, databases: ["wiki"] }]) {
    const compared = await everythingCompared(place, source);
    expect(compared.tables).toBeGreaterThan(50);
    expect(compared.objects).toBeGreaterThan(150);
  }
});
