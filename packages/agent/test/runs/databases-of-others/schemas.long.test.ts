import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceConfig } from "../../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "../source-postgres.ts";
import { unpackedPrograms } from "./programs.ts";

/** Schemas that others wrote, as Debian ships them, come back with every object as it was. */

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
let schemas: string;

beforeAll(async () => {
  schemas = unpackedPrograms();
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
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
  await server?.close();
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
