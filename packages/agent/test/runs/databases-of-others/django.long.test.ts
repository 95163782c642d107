import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceConfig } from "../../../src/config/source-config.ts";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../source-mariadb.ts";
import { type SourcePostgres, startSourcePostgres } from "../source-postgres.ts";
import { runPython, unpackedPrograms } from "./programs.ts";
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

/** An empty database, as Django's settings and the agent's configuration name it. */
type Made = readonly [engine: string, settings: object, source: SourceConfig];

const DATABASES: Readonly<Record<string, () => Made>> = {
  PostgreSQL: () => {
    server.sql("create database site template template0");
    const { PGHOST: HOST = "", PGUSER: USER = "" } = server.environment;
    const connection = { kind: "url", url: server.url(USER, "", "site") } as const;
    return ["postgresql", { HOST, USER, NAME: "site" }, { ...server.source, connection }];
  },
  MariaDB: () => {
    mariadb.sql("create database site character set utf8mb4");
    const settings = { HOST: mariadb.socket, USER: "root", NAME: "site", OPTIONS: { charset: "utf8mb4" } };
    return ["mysql", settings, { ...mariadb.source, databases: ["site"] }];
  },
  SQLite: () => {
    const path = join(place.dir, "site.sqlite");
    const common = { slug: "site", sandbox: "process", checkTimeout_s: 60, checks: [] } as const;
    return ["sqlite3", { NAME: path }, { ...common, engine: "sqlite", path }];
  },
};

test.each([
  ["PostgreSQL", 18, 100],
  ["MariaDB", 17, 50],
  ["SQLite", 18, 20],
] as const)(
  "what Django's own migrate makes on %s comes back, with every table's rows and every object compared",
  async (name, tables, objects) => {
    const [engine, settings, source] = DATABASES[name]!();
    runPython(unpackedPrograms(), [
      join(import.meta.dirname, "django-site.py"),
      JSON.stringify({ ENGINE: `django.db.backends.${engine}`, ...settings }),
    ]);
    const compared = await everythingCompared(place, source);
    expect(compared.tables).toBe(tables);
    expect(compared.objects).toBeGreaterThan(objects);
  },
);
