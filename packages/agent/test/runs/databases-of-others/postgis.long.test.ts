import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { comparedContent } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceConfig, SourceConfigOf } from "../../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "../source-postgres.ts";
import { TOWN } from "./town-in-postgis.ts";

let place: TestPlace;
let server: SourcePostgres;
let town: SourceConfigOf<"postgresql">;
/** Its own tables, and those in the schema of a topology. */
let tables: number;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql("create database town template template0");
  server.sql(`\\connect town\n${TOWN}`);
  tables = Number(
    server.sql(`\\connect town
      select count(*) from pg_class c where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'streets')
        and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')`),
  );
  const url = server.url(server.environment["PGUSER"] ?? "", "", "town");
  town = { ...server.source, slug: "town", connection: { kind: "url", url } };
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const observedOf = ({ checks }: RestoreTestResult, id: string): Readonly<Record<string, unknown>> =>
  checks.find((check) => check.id === `inferred:${id}`)?.observed ?? {};

test("a town in PostGIS comes back with every row and every object compared but the rows of extensions", async () => {
  const made = await backUp(place, town);
  const tested = await testBackup(place, town, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");

  const { not_compared } = made.sourceMetadata["content"] as {
    not_compared: { count: number; named: { name: string; why: string }[] };
  };
  const named = (why: string): string[] =>
    not_compared.named.filter((each) => each.why === why).map(({ name }) => name);
  expect(named("extension_table").toSorted()).toEqual([
    "public.spatial_ref_sys",
    ...["gaz", "lex", "rules"].map((name) => `public.us_${name}`),
    ...["geocode_settings", "pagc_gaz", "pagc_lex", "pagc_rules"].map((name) => `tiger.${name}`),
    "topology.layer",
    "topology.topology",
  ]);
  // Rows that the extension's own script makes.
  expect(named("not_in_dump").filter((name) => !/^(?:tiger\.|public\.us_)/.test(name))).toEqual([
    // A restored database begins again with the number 1, which a topology has.
    "topology.topology_id_seq",
  ]);
  expect(named("extension_table").length + named("not_in_dump").length).toBe(not_compared.count);
  expect(observedOf(tested, "content")).toMatchObject({
    tables,
    differing: 0,
    not_compared: not_compared.count,
  });
  expect(tables).toBeGreaterThan(10);

  for (const what of ["objects", "privileges", "unrestored"]) {
    expect(observedOf(tested, what), what).toMatchObject({ differing: 0 });
    expect(observedOf(tested, what), what).not.toHaveProperty("not_compared");
    expect(observedOf(tested, what), what).not.toHaveProperty("not_looked_at");
  }
  expect(observedOf(tested, "objects")["objects"]).toBeGreaterThan(100);
  expect(observedOf(tested, "indexes")).toMatchObject({ unfit: 0 });
});

// pg_restore's do not wait for the rows that an index or a foreign key needs.
test("several jobs restore a town in PostGIS, whose index and topology need rows of extensions", async () => {
  const source = { ...town, jobs: 2 };
  const tested = await testBackup(place, source, await backUp(place, source));
  expect(tested.reason).toBeUndefined();
  expect(comparedContent(tested.checks)).toMatchObject({ tables, differing: 0, objects: { differing: 0 } });
});

test.each(["-Fc", "-Fp"])(
  "a town in PostGIS, as pg_dump %s writes it, comes back with every object that it declares",
  async (format) => {
    const path = join(place.dir, `dumps${format}`);
    mkdirSync(path);
    execFileSync(join(server.bin, "pg_dump"), [format, `--file=${join(path, "a.dump")}`, "town"], {
      env: { ...process.env, ...server.environment },
    });
    const source: SourceConfig = {
      slug: "town",
      engine: "dumps",
      sandbox: "process",
      checkTimeout_s: 60,
      checks: [],
      place: { kind: "directory", path },
      pattern: "*",
      min_age_s: 0,
      max_age_s: null,
      min_bytes: 1,
    };
    const tested = await testBackup(place, source, await backUp(place, source));
    expect(tested.reason).toBeUndefined();
    expect(observedOf(tested, "content")).toMatchObject({ differing: 0 });
    expect(observedOf(tested, "objects")).toMatchObject({ differing: 0 });
    expect(observedOf(tested, "objects")).not.toHaveProperty("not_compared");
    expect(observedOf(tested, "objects")["objects"]).toBeGreaterThan(80);
  },
);
