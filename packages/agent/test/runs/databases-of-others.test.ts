import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeEncryptedDump } from "../../src/runs/write-encrypted-dump.ts";
import { restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { makeTestPlace, type TestPlace, sizeOf } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** Databases that others wrote, as Debian ships them, come back with every object as it was. */

const never = new AbortController().signal;

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

beforeAll(async () => {
  const schemas = execFileSync(join(import.meta.dirname, "../../../../tools/install-schemas"), {
    encoding: "utf8",
  }).trim();
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

test("eight of them, each with every table's rows and every object compared", async () => {
  const source = { ...server.source, databases: Object.keys(DATABASES), jobs: 2 };
  const made = await writeEncryptedDump({
    source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    scratchDir: place.scratch,
    signal: never,
  });
  const tested = await restoreAndCheck({
    source,
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify({ ...made.sourceMetadata, ...sizeOf(made) })) as Record<
      string,
      unknown
    >,
    signal: never,
  });
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
}, 240_000);
