import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import type { ConnectionSettings } from "../postgres/connection-settings.ts";
import { migrate, readMigrations } from "./migrate.ts";
import type { Migration } from "./migrate.ts";
import { openTestDatabase } from "./test-database.ts";
import type { TestDatabase } from "./test-database.ts";

let server: TestDatabase;
let connection: ConnectionSettings;
let count = 0;
beforeAll(async () => {
  server = await openTestDatabase();
});
afterAll(() => server.close());
beforeEach(async () => {
  const database = `migrate_${(count += 1)}`;
  await server.pool.query(`create database ${database}`);
  connection = { ...server.connection, database };
});

async function query<Row extends object>(text: string): Promise<Row[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

function migrations(...statements: string[]): Migration[] {
  return statements.map((sql, index) => ({
    version: index + 1,
    name: `000${index + 1}_test.sql`,
    sql,
    sha256: Buffer.from(sql).toString("hex"),
  }));
}

const CREATE = "create table things (n integer)";
const INSERT = "insert into things values (1)";

test("applies what is missing, in order, once", async () => {
  expect(await migrate(connection, silentLogger, migrations(CREATE))).toEqual([1]);
  expect(await migrate(connection, silentLogger, migrations(CREATE, INSERT))).toEqual([2]);
  expect(await migrate(connection, silentLogger, migrations(CREATE, INSERT))).toEqual([]);
  expect(await query("select n from things")).toEqual([{ n: 1 }]);
});

test("replicas that start at once apply each migration once between them", async () => {
  const all = migrations(CREATE, INSERT, "insert into things values (2)");
  const done = await Promise.all(Array.from({ length: 6 }, () => migrate(connection, silentLogger, all)));
  expect(done.flat().toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(await query("select n from things order by n")).toEqual([{ n: 1 }, { n: 2 }]);
});

test("a migration that fails leaves nothing of itself, and those before it done", async () => {
  const broken = migrations(CREATE, `${INSERT}; select 1/0`);
  await expect(migrate(connection, silentLogger, broken)).rejects.toThrow("division by zero");
  expect(await query("select version from schema_migrations")).toEqual([{ version: 1 }]);
  expect(await query("select n from things")).toEqual([]);
});

test("refuses a database of newer code, and one migrated by other files, without touching them", async () => {
  await migrate(connection, silentLogger, migrations(CREATE, INSERT));
  await expect(migrate(connection, silentLogger, migrations(CREATE))).rejects.toMatchObject({
    code: "database_unusable",
    message: expect.stringContaining("newer version"),
  });
  const changed = migrations(CREATE, "insert into things values (9)", "drop table things");
  await expect(migrate(connection, silentLogger, changed)).rejects.toMatchObject({
    code: "database_unusable",
  });
  expect(await query("select n from things")).toEqual([{ n: 1 }]);
});

test("the service's own migrations are numbered without a gap and are what the test database was made by", async () => {
  const own = await readMigrations();
  expect(own.length).toBeGreaterThan(0);
  const { rows } = await server.pool.query(
    "select version, name, sha256 from schema_migrations order by version",
  );
  expect(rows).toEqual(own.map(({ version, name, sha256 }) => ({ version, name, sha256 })));
});
