import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { comparedContent } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceConfig } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** Databases that others wrote, as Debian ships them, come back with every object as it was. */

/** Each program's own scripts, in their order. */
const DATABASES: Readonly<Record<string, readonly string[]>> = {
  bacula: ["usr/share/dbconfig-common/data/bacula-director-pgsql/install/pgsql"],
  freeradius: [
    "etc/freeradius/3.0/mods-config/sql/main/postgresql/schema.sql",
    "etc/freeradius/3.0/mods-config/sql/ippool/postgresql/schema.sql",
    "etc/freeradius/3.0/mods-config/sql/ippool/postgresql/procedure.sql",
  ],
  icinga: ["usr/share/icinga2-ido-pgsql/schema/pgsql.sql"],
  kea: ["usr/share/kea/scripts/pgsql/dhcpdb_create.pgsql"],
  powerdns: ["usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql"],
  roundcube: ["usr/share/dbconfig-common/data/roundcube/install/pgsql"],
  ttrss: ["usr/share/tt-rss/schema/ttrss_schema_pgsql.sql"],
  zabbix: ["usr/share/zabbix-server-pgsql/schema.sql.gz"],
};

let place: TestPlace;
let server: SourcePostgres;
let mariadb: SourceMariadb;
let schemas: string;

beforeAll(async () => {
  schemas = execFileSync(join(import.meta.dirname, "../../../../tools/install-schemas"), {
    encoding: "utf8",
  }).trim();
  place = await makeTestPlace();
  [server, mariadb] = await Promise.all([startSourcePostgres(place.dir), startSourceMariadb(place.dir)]);
  for (const [name, scripts] of Object.entries(DATABASES)) {
    server.sql(`create database ${name} template template0`);
    for (const script of scripts) {
      const bytes = readFileSync(join(schemas, script));
      // Some of them drop first what an older version had, and say so as an error.
      execFileSync(join(server.bin, "psql"), ["--no-psqlrc", "--quiet", `--dbname=${name}`], {
        env: { ...process.env, ...server.environment },
        input: script.endsWith(".gz") ? gunzipSync(bytes) : bytes,
        stdio: ["pipe", "ignore", "ignore"],
      });
    }
    server.sql(`\\connect ${name}
      analyze`);
  }
});

afterAll(async () => {
  await Promise.all([server?.close(), mariadb?.close()]);
  await place?.remove();
});

async function roundTrip(source: SourceConfig): Promise<RestoreTestResult> {
  const made = await backUp(place, source);
  return testBackup(place, source, made);
}

test.each([
  ["kea", "-Fc"],
  ["zabbix", "-Fp"],
])("%s, as pg_dump %s writes it, with every object that it declares", async (name, format) => {
  const path = join(place.dir, `dumps-${name}`);
  mkdirSync(path);
  execFileSync(join(server.bin, "pg_dump"), [format, `--file=${join(path, "a.dump")}`, name], {
    env: { ...process.env, ...server.environment },
  });
  const source: SourceConfig = {
    slug: name,
    engine: "dumps",
    sandbox: "process",
    checkTimeout_s: 60,
    // Its tables have no rows.
    checks: [{ id: "tables", query: "select 1 as n", expect: "n = 1" }],
    place: { kind: "directory", path },
    pattern: "*",
    min_age_s: 0,
    max_age_s: null,
    min_bytes: 1,
  };
  const tested = await roundTrip(source);
  const objects = tested.checks.find(({ id }) => id === "inferred:objects");
  expect(objects).toMatchObject({ result: "passed", observed: { differing: 0 } });
  expect(objects?.observed).not.toHaveProperty("not_compared");
  expect(objects?.observed["objects"]).toBeGreaterThan(100);
});

/** Its own installer makes MediaWiki's database, with its first user and page. */
function installMediawiki(options: readonly string[]): void {
  const modules =
    "mysqlnd ctype dom fileinfo iconv intl mbstring mysqli pgsql tokenizer xml xmlreader simplexml";
  const installed = join(place.dir, "mediawiki");
  mkdirSync(installed, { recursive: true });
  execFileSync(
    join(schemas, "usr/bin/php8.2"),
    [
      "-n",
      ...[`extension_dir=${join(schemas, "usr/lib/php/20220829")}`, "memory_limit=512M"].map(
        (each) => `-d${each}`,
      ),
      ...modules.split(" ").map((each) => `-dextension=${each}`),
      join(schemas, "usr/share/mediawiki/maintenance/install.php"),
      ...options,
      "--dbname=wiki",
      `--confpath=${installed}`,
      "--pass=correct horse battery",
      "Wiki",
      "Ada",
    ],
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, TMPDIR: place.dir } },
  );
  rmSync(installed, { recursive: true });
}

test("MediaWiki comes back on PostgreSQL and on MariaDB, with every table's rows and every object compared", async () => {
  server.sql("create database wiki template template0; create role wiki superuser login password 'wiki'");
  const host = server.environment["PGHOST"] ?? "";
  installMediawiki(["--dbtype=postgres", `--dbserver=${host}`, "--dbuser=wiki", "--dbpass=wiki"]);
  process.env["TEST_WIKI_URL"] = server.url(server.environment["PGUSER"] ?? "", "", "wiki");
  const wiki = { ...server.source, connection: { kind: "env", name: "TEST_WIKI_URL" } } as const;
  const socket = decodeURIComponent(/socket=(.*)$/.exec(mariadb.url("root", ""))?.[1] ?? "");
  installMediawiki(["--dbtype=mysql", `--dbserver=localhost:${socket}`, "--dbuser=root", "--dbpass="]);
  for (const source of [wiki, { ...mariadb.source, databases: ["wiki"] }]) {
    const tested = await roundTrip(source);
    expect(tested.reason).toBeUndefined();
    const compared = comparedContent(tested.checks);
    expect(compared).toMatchObject({ differing: 0, notCompared: 0, objects: { differing: 0 } });
    expect(compared?.objects).not.toHaveProperty("notCompared");
    expect(compared?.tables).toBeGreaterThan(50);
    expect(compared?.objects?.count).toBeGreaterThan(150);
  }
});

test("eight schemas of Debian come back, each with every table's rows and every object compared", async () => {
  const source = { ...server.source, databases: Object.keys(DATABASES), jobs: 2 };
  const tested = await roundTrip(source);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  const observed = (id: string, of: string): Readonly<Record<string, unknown>> =>
    tested.checks.find((check) => check.id === `inferred:${id}:${of}`)?.observed ?? {};
  for (const name of Object.keys(DATABASES)) {
    const tables = Number(
      server.sql(
        `\\connect ${name}\nselect count(*) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
      ),
    );
    expect(tables, name).toBeGreaterThan(5);
    expect(observed("content", name), name).toMatchObject({ tables, differing: 0, not_compared: 0 });
    expect(observed("objects", name), name).toMatchObject({ differing: 0 });
    expect(observed("objects", name)["objects"], name).toBeGreaterThan(tables);
  }
});
