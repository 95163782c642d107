import { execFileSync } from "node:child_process";
import { statSync, truncateSync, writeFileSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PsqlSession } from "../../src/engines/postgresql/connection/psql-session.ts";
import { openPostgresqlTarget } from "../../src/engines/postgresql/target/target.ts";
import type { Target } from "../../src/engines/target.ts";
import { programsIn } from "../../src/processes/run-program.ts";
import { makeTestPlace, type TestPlace } from "../runs/scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "../runs/source-postgres.ts";
import { type Finished, runCli } from "../service/cli.ts";
import { makeRootOf, PASSWORD, refused, restoreChangingCopy, type RootOfSources } from "./root-of-sources.ts";

let place: TestPlace;
let postgres: SourcePostgres;
let sources: RootOfSources;
let root: string;
const cli: RootOfSources["cli"] = (...args) => sources.cli(...args);
const restore: RootOfSources["restore"] = (...args) => sources.restore(...args);

beforeAll(async () => {
  place = await makeTestPlace();
  root = join(place.dir, "root");
  postgres = await startSourcePostgres(place.dir);
  postgres.sql("create database shop template template0 locale 'C.UTF-8'");
  postgres.sql(
    [
      "\\connect shop",
      "create role reader",
      `create role restorer superuser login password '${PASSWORD}'`,
      "create table orders (id int primary key, note text)",
      "insert into orders select n, 'order ' || n from generate_series(1, 500) n",
      "alter table orders enable row level security",
      "create policy seen on orders for select to reader using (true)",
    ]
      .join(";\n")
      .replace("\\connect shop;", "\\connect shop"),
  );
  sources = await makeRootOf(
    place,
    {
      pg: "{ engine: postgresql, connection: env:PG_URL }",
      unmet: "{ engine: postgresql, connection: env:UNMET_URL }",
      papers: `{ engine: files, path: ${place.dir}/none }`,
    },
    {
      PG_URL: postgres.url("restorer", PASSWORD, "shop"),
      UNMET_URL: postgres.url("restorer", PASSWORD, "unmet"),
    },
  );
});
afterAll(async () => {
  await postgres.close();
  await place.remove();
});

const inPostgres = (database: string, sql: string): string => postgres.sql(`\\connect "${database}"\n${sql}`);

describe("PostgreSQL", () => {
  it("restores into a new database, with the source's locale, and changes no other", async () => {
    const done = await restore("pg", "--into", "shop new", "--json");
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ database: "shop new" });
    expect(inPostgres("shop new", "select count(*), max(note) from orders")).toBe("500|order 99");
    expect(
      inPostgres("shop new", "select datcollate from pg_database where datname = current_database()"),
    ).toBe("C.UTF-8");
    expect(inPostgres("shop", "select count(*) from orders")).toBe("500");
  });

  it("refuses a database that is not empty, and changes nothing in it, even with --non-empty", async () => {
    inPostgres("shop", "create table mine (id int); insert into mine values (1)");
    await refused(restore("pg", "--into", "shop"), 2, "the database shop is not empty", "--non-empty");
    await refused(
      restore("pg", "--into", "shop", "--non-empty"),
      2,
      "nothing in shop was changed",
      "already exists",
    );
    expect(inPostgres("shop", "select count(*) from mine")).toBe("1");
    inPostgres("shop", "drop table mine");
  });

  it("with --non-empty, restores beside what exists", async () => {
    postgres.sql("create database beside template template0 locale 'C.UTF-8'");
    inPostgres("beside", "create table mine (id int); insert into mine values (1)");
    const done = await restore("pg", "--into", "beside", "--non-empty");
    expect(done.code, done.stderr).toBe(0);
    expect(inPostgres("beside", "select (select count(*) from mine), (select count(*) from orders)")).toBe(
      "1|500",
    );
  });

  it("warns of an empty database in another locale", async () => {
    postgres.sql("create database other template template0 locale 'C'");
    const done = await restore("pg", "--into", "other");
    expect(done.code, done.stderr).toBe(0);
    expect(done.stderr).toContain("other has the locale C and the source had C.UTF-8");
  });

  it("refuses a template, which every new database would be a copy of", async () => {
    await refused(restore("pg", "--into", "template1"), 2, "template1 is a template of new databases");
    await refused(restore("pg", "--into", "template1", "--non-empty"), 2, "template1 is a template");
    expect(inPostgres("template1", "select count(*) from pg_class where relname = 'orders'")).toBe("0");
  });

  it("says what an administrator has to run where the role may not create databases", async () => {
    postgres.sql(`create role "it's mine" login password '${PASSWORD}'; grant reader to "it's mine"`);
    const env = { ATTESTORE_HOME: root, SERVER: postgres.url("it's mine", PASSWORD, "postgres") };
    const again = (): Promise<Finished> =>
      runCli(["restore", "--source", "pg", "--into", "the shop", "--server", "env:SERVER"], {
        cwd: place.dir,
        env,
      });
    const asked = await again();
    expect(asked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the role it's mine may not create databases"),
    });
    const [statement = ""] = /create database .*;/.exec(asked.stderr) ?? [];
    postgres.sql(statement);
    const done = await again();
    expect(done.code, done.stderr).toBe(0);
    expect(
      inPostgres(
        "the shop",
        "select pg_get_userbyid(datdba), datcollate from pg_database where datname like 'the%'",
      ),
    ).toBe("it's mine|C.UTF-8");
  });

  it("names roles that the server lacks, before it makes anything", async () => {
    postgres.sql("alter role reader rename to former");
    await refused(restore("pg", "--into", "lacking"), 2, "roles that the server lacks", "reader");
    postgres.sql("alter role former rename to reader");
    expect(postgres.sql("select count(*) from pg_database where datname = 'lacking'")).toBe("0");
  });

  it("loads nothing of a ciphertext that was cut short, and all of a whole one without a root", async () => {
    const stored = join(place.dir, "stored");
    const paths = readdirSync(stored, { recursive: true, encoding: "utf8" })
      .map((name) => join(stored, name))
      .filter((path) => path.endsWith(".age"));
    const sizes = paths.map((path) => ({ path, bytes: readFileSync(path) }));
    const identity = join(root, "keys/age.key");
    postgres.sql("create database by_hand template template0 locale 'C.UTF-8'");
    const args = [
      "--engine",
      "postgresql",
      "--server",
      "env:PG_URL",
      "--identity",
      identity,
      "--into",
      "by_hand",
    ];
    const results: string[] = [];
    for (const { bytes } of sizes) {
      const copy = join(place.dir, "copy.age");
      writeFileSync(copy, bytes);
      truncateSync(copy, statSync(copy).size - 20);
      await refused(cli("restore", "--file", copy, ...args), 1, "nothing was restored");
      expect(inPostgres("by_hand", "select count(*) from pg_class where relname = 'orders'")).toBe("0");
      writeFileSync(copy, bytes);
      const done = await cli("restore", "--file", copy, ...args);
      results.push(done.code === 0 ? "restored" : done.stderr);
      if (done.code === 0) break;
    }
    expect(results.at(-1), results.join("\n")).toBe("restored");
    expect(inPostgres("by_hand", "select count(*) from orders")).toBe("500");
  });

  it("leaves no empty database of a backup that the server refuses", async () => {
    postgres.sql(`create database unmet template template0 locale 'C.UTF-8'`);
    inPostgres(
      "unmet",
      "create table a (id int primary key); create table b (a int references a); set session_replication_role = replica; insert into b values (1)",
    );
    expect(await cli("backup", "--source", "unmet")).toMatchObject({ code: 0 });
    await refused(
      restore("unmet", "--into", "for nothing"),
      2,
      "pg_restore stopped, and nothing was restored",
      "violates foreign key constraint",
    );
    expect(postgres.sql("select count(*) from pg_database where datname = 'for nothing'")).toBe("0");
  });

  describe("a new database into which nothing could be loaded", () => {
    function targetOf(database: string): Promise<Target> {
      process.env["TEST_TARGET_URL"] = postgres.url("restorer", PASSWORD, "shop");
      return openPostgresqlTarget(
        { connection: { kind: "env", name: "TEST_TARGET_URL" }, database, mayHaveContent: false },
        { locale: { provider: "libc", collate: "C.UTF-8", ctype: "C.UTF-8" } },
        new AbortController().signal,
      );
    }
    async function refusedTarget(database: string): Promise<Target> {
      const target = await targetOf(database);
      async function* content(): AsyncGenerator<Buffer> {
        yield await Promise.resolve(Buffer.from("no archive"));
      }
      await expect(target.load(content())).rejects.toMatchObject({ code: "target_unusable" });
      return target;
    }
    const isThere = (database: string): string =>
      postgres.sql(`select datallowconn from pg_database where datname = '${database}'`);

    it("is removed", async () => {
      const target = await refusedTarget("removed");
      expect(isThere("removed")).toBe("t");
      expect(await target.discard()).toBeNull();
      await target.close();
      expect(isThere("removed")).toBe("");
    });

    it("is left alone once a backup is in it, also one of an empty database", async () => {
      postgres.sql("create database without_tables");
      const dump = execFileSync(join(postgres.bin, "pg_dump"), ["-Fc", "--dbname=without_tables"], {
        env: { ...process.env, ...postgres.environment },
      });
      const target = await targetOf("restored_whole");
      async function* content(): AsyncGenerator<Buffer> {
        yield await Promise.resolve(dump);
      }
      await target.load(content());
      expect(await target.discard()).toBeNull();
      await target.close();
      expect(isThere("restored_whole")).toBe("t");
      postgres.sql("drop database restored_whole; drop database without_tables");
    });

    it.each(["create table theirs (id int)", "create schema theirs", "select lo_create(0)"])(
      "is left, and named, if somebody has filled it: %s",
      async (sql) => {
        const target = await refusedTarget("filled");
        inPostgres("filled", sql);
        expect(await target.discard()).toMatch(/^the new database filled .* drop database "?filled"?;$/);
        await target.close();
        expect(isThere("filled")).toBe("t");
        postgres.sql("drop database filled");
      },
    );

    it("is left if somebody is connected, or has replaced it", async () => {
      const target = await refusedTarget("used");
      const never = new AbortController().signal;
      const theirs = await PsqlSession.open(programsIn(postgres.bin), postgres.environment, never, {
        database: "used",
      });
      expect(await theirs.run("select 1")).toMatchObject({ ok: true });
      expect(await target.discard()).toContain("the new database used");
      await theirs.close();
      await expect
        .poll(() => postgres.sql("select count(*) from pg_stat_activity where datname = 'used'"))
        .toBe("0");
      postgres.sql("drop database used; create database used");
      expect(await target.discard()).toContain("the new database used");
      await target.close();
      expect(isThere("used")).toBe("t");
    });
  });

  it("names the fault of a call before it asks a server", async () => {
    await refused(restore("pg", "--into", "x", "--output", "y"), 2, "--output or --into, not both");
    await refused(restore("papers", "--into", "x"), 2, "not files: restore with --output");
    await refused(restore("pg", "--into", "-x; drop"), 2, "takes the name of a database");
    await refused(cli("restore", "--file", "x", "--into", "y"), 2, "needs --engine");
    await refused(
      restore("pg", "--into", "x", "--server", `postgresql://u:${PASSWORD}@h/d`),
      2,
      "--server must not hold a password",
    );
    await refused(
      restore("pg", "--into", "x", "--server", "postgresql://nobody@127.0.0.1:1/d"),
      2,
      "cannot be reached",
    );
  });
});

describe("a ciphertext that changes on this host after it was found right", () => {
  it("is read again for PostgreSQL, which took nothing of it", async () => {
    process.env["TEST_TARGET_URL"] = postgres.url("restorer", PASSWORD, "shop");
    const target = await openPostgresqlTarget(
      { connection: { kind: "env", name: "TEST_TARGET_URL" }, database: "once_more", mayHaveContent: false },
      { locale: { provider: "libc", collate: "C.UTF-8", ctype: "C.UTF-8" } },
      new AbortController().signal,
    );
    expect(target.leavesPart).toBeNull();
    expect(await restoreChangingCopy(place, "pg", target)).toEqual({ readings: 2 });
    expect(inPostgres("once_more", "select count(*) from orders")).toBe("500");
  });
});
