import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, truncateSync, writeFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readIdentities } from "../src/crypto/age-identity.ts";
import type { Target } from "../src/engines/target.ts";
import { PsqlSession } from "../src/engines/postgresql/psql-session.ts";
import { programsIn } from "../src/processes/run-program.ts";
import { openPostgresqlTarget } from "../src/engines/postgresql/target.ts";
import { restoreIntoTarget } from "../src/runs/restore-into-target.ts";
import { SecondReading } from "../src/runs/second-reading.ts";
import { openMariadbTarget } from "../src/engines/mariadb/target.ts";
import { makeTestPlace, type TestPlace } from "./runs/scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./runs/source-mariadb.ts";
import { type SourcePostgres, startSourcePostgres } from "./runs/source-postgres.ts";
import { type Finished, runCli } from "./service/cli.ts";

let place: TestPlace;
let postgres: SourcePostgres;
let mariadb: SourceMariadb;
let root: string;

const PASSWORD = "s3cret-of-the-server";

beforeAll(async () => {
  place = await makeTestPlace();
  [postgres, mariadb] = await Promise.all([startSourcePostgres(place.dir), startSourceMariadb(place.dir)]);
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
  mariadb.sql(
    `create database shop character set utf8mb4;
     create table shop.orders (id int primary key, note text);
     create function shop.greeting() returns varchar(20) deterministic return 'good day';
     create trigger shop.\`kept\` before insert
       on shop.orders for each row set new.note = concat(new.note, '\nALTER DATABASE \`shop\` CHARACTER SET x COLLATE y ;\n');
     create event shop.nightly on schedule every 1 day do delete from shop.orders where id > 1000;
     alter database shop character set latin1;
     insert into shop.orders values (1, 'one\\n-- Current Database: \`mysql\`\\n'), (2, 'two');
     create view shop.notes as select note from shop.orders;
     create user restorer@localhost identified by '${PASSWORD}'; grant all on *.* to restorer@localhost with grant option;
     create database busy; create table busy.orders (id int primary key)`,
  );
  root = join(place.dir, "root");
  const made = await cli("init", "--standalone", "--storage", join(place.dir, "stored"), "--name", "lone");
  expect(made.code, made.stderr).toBe(0);
  writeFileSync(
    join(root, "config.yaml"),
    `${readFileSync(join(root, "config.yaml"), "utf8")}
sources:
  pg: { engine: postgresql, connection: env:PG_URL }
  unmet: { engine: postgresql, connection: env:UNMET_URL }
  maria: { engine: ${mariadb.source.engine}, connection: env:MARIADB_URL }
  papers: { engine: files, path: ${place.dir}/none }
`,
  );
  for (const source of ["pg", "maria"]) {
    const backup = await cli("backup", "--source", source);
    expect(backup.code, backup.stderr).toBe(0);
  }
});
afterAll(async () => {
  await Promise.all([postgres.close(), mariadb.close()]);
  await place.remove();
});

function cli(...args: string[]): Promise<Finished> {
  return runCli(args, {
    cwd: place.dir,
    env: {
      ATTESTORE_HOME: root,
      PG_URL: postgres.url("restorer", PASSWORD, "shop"),
      UNMET_URL: postgres.url("restorer", PASSWORD, "unmet"),
      MARIADB_URL: mariadb.url("restorer", PASSWORD),
    },
  });
}

const restore = (source: string, ...args: string[]): Promise<Finished> =>
  cli("restore", "--source", source, ...args);

async function refused(pending: Promise<Finished>, code: number, ...texts: string[]): Promise<void> {
  const done = await pending;
  expect(done.code, done.stdout + done.stderr).toBe(code);
  for (const text of texts) expect(done.stderr).toContain(text);
  expect(done.stdout + done.stderr).not.toContain(PASSWORD);
}

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

describe("MariaDB", () => {
  it("restores into a new database under another name, and changes no other", async () => {
    const done = await restore("maria", "--into", "shop new");
    expect(done.code, done.stderr).toBe(0);
    expect(
      mariadb.sql("select count(*), max(id) from `shop new`.orders; select count(*) from `shop new`.notes"),
    ).toBe("2\t2\n2");
    expect(
      mariadb.sql(
        "select default_character_set_name from information_schema.schemata where schema_name = 'shop new'",
      ),
    ).toBe("latin1");
    expect(mariadb.sql("select note from `shop new`.orders where id = 1")).toContain("Current Database");
    expect(mariadb.sql("select count(*) from shop.orders")).toBe("2");
  });

  it("says what an administrator has to run where the account may not use the database", async () => {
    const isMysql = mariadb.product === "MySQL";
    const rights = isMysql ? "set_any_definer, system_user" : "set user";
    mariadb.sql(
      `create user filler@localhost identified by '${PASSWORD}'; grant ${rights} on *.* to filler@localhost`,
    );
    const env = { ATTESTORE_HOME: root, SERVER: mariadb.url("filler", PASSWORD) };
    const again = (): Promise<Finished> =>
      runCli(["restore", "--source", "maria", "--into", "its_own", "--server", "env:SERVER"], {
        cwd: place.dir,
        env,
      });
    const asked = await again();
    expect(asked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the account filler@localhost may not use the database its_own"),
    });
    const [statement = ""] = /grant all .*;/.exec(asked.stderr) ?? [];
    mariadb.sql(statement);
    if (isMysql) {
      // It has a binary log by default, and takes functions and triggers only from those it trusts.
      const untrusted = await again();
      expect(untrusted.stderr).toContain("ERROR 1419 ");
      const [trust = ""] = /set global [^;]*;/.exec(untrusted.stderr) ?? [];
      mariadb.sql(`drop database its_own; ${trust}`);
    }
    const done = await again();
    expect(done.code, done.stderr).toBe(0);
    expect(mariadb.sql("select count(*) from its_own.orders")).toBe("2");
  });

  it("refuses a database that is not empty, whatever is given, and the server's own", async () => {
    await refused(restore("maria", "--into", "busy"), 2, "is not empty: it has 1 tables and views");
    await refused(restore("maria", "--into", "busy", "--non-empty"), 2, "leave out --non-empty");
    await refused(restore("maria", "--into", "mysql"), 2, "the server's own");
    expect(mariadb.sql("select count(*) from busy.orders")).toBe("0");
  });

  it.each(["create database late", "create database late; create table late.orders (id int)"])(
    "loads nothing into a database that somebody filled or made since it was looked at: %s",
    async (meanwhile) => {
      const url = join(place.dir, "url");
      writeFileSync(url, mariadb.url("restorer", PASSWORD));
      mariadb.sql("drop database if exists late");
      const target = await openMariadbTarget(
        { connection: { kind: "file", path: url }, database: "late", mayHaveContent: false },
        {},
        { scratchDir: place.dir, signal: new AbortController().signal },
      );
      mariadb.sql(meanwhile);
      async function* content(): AsyncGenerator<Buffer> {
        yield await Promise.resolve(Buffer.from("drop table if exists late.orders;\n"));
      }
      await expect(target.load(content())).rejects.toThrow("late was made or filled by somebody else");
      await target.close();
      expect(mariadb.sql("select count(*) from information_schema.tables where table_schema = 'late'")).toBe(
        meanwhile.includes("table") ? "1" : "0",
      );
    },
  );

  it("says what a server must be set to if it takes less than the source's", async () => {
    const values: Readonly<Record<string, string>> = { max_allowed_packet: "1048576" };
    const ofMysql = [
      ["sql_require_primary_key", "create table shop.large (id int)"],
      [
        "restrict_fk_on_non_standard_key",
        "set restrict_fk_on_non_standard_key = off; create table shop.large (id int, k int, key (k), foreign key (id) references shop.large (k))",
      ],
    ] as const;
    const columns = Array.from({ length: 150 }, (_, at) => `c${at} varchar(100) not null`).join(", ");
    for (const [name, sql] of [
      [
        "max_allowed_packet",
        "create table shop.large (b longblob); insert into shop.large values (repeat('x', 2000000))",
      ],
      [
        "innodb_strict_mode",
        `set innodb_strict_mode = off; create table shop.large (${columns}) character set latin1 row_format = compact`,
      ],
      ...(mariadb.product === "MySQL" ? ofMysql : []),
    ] as const) {
      mariadb.sql(`drop table if exists shop.large; drop database if exists smaller; ${sql}`);
      const backup = await cli("backup", "--source", "maria");
      expect(backup.code, backup.stderr).toBe(0);
      mariadb.sql(`set global ${name} = ${values[name] ?? "on"}`);
      const refused = await restore("maria", "--into", "smaller");
      expect(refused.code).toBe(2);
      expect(refused.stderr).not.toContain("787878");
      const [statement = ""] = /set global [^;]*;/.exec(refused.stderr) ?? [];
      expect(statement, refused.stderr).toContain(name);
      mariadb.sql(`drop database smaller; ${statement}`);
      const done = await restore("maria", "--into", "smaller");
      expect(done.code, done.stderr).toBe(0);
      mariadb.sql("drop table shop.large");
    }
  });

  it("warns if the source's server was made with settings that this one lacks", async () => {
    const url = join(place.dir, "url");
    writeFileSync(url, mariadb.url("restorer", PASSWORD));
    const warnings = async (metadata: Record<string, unknown>): Promise<readonly string[]> => {
      const target = await openMariadbTarget(
        { connection: { kind: "file", path: url }, database: "made_later", mayHaveContent: false },
        metadata,
        { scratchDir: place.dir, signal: new AbortController().signal },
      );
      await target.close();
      return target.warnings;
    };
    expect(await warnings({})).toEqual([]);
    expect(await warnings({ lower_case_table_names: 1, innodb_page_size: 65536 })).toEqual([
      expect.stringContaining("Make a server with lower_case_table_names=1") as string,
      expect.stringContaining("Make a server with innodb_page_size=65536") as string,
    ]);
  });

  it("changes no database of the old name, and needs none", async () => {
    const charset = (name: string): string =>
      `select default_character_set_name from information_schema.schemata where schema_name = '${name}'`;
    const triggers =
      "select trigger_schema, trigger_name from information_schema.triggers where trigger_schema in ('shop', 'beside', 'alone') order by 1";
    mariadb.sql("use shop; drop trigger kept; alter database shop character set utf16");
    const beside = await restore("maria", "--into", "beside");
    expect(beside.code, beside.stderr).toBe(0);
    expect(mariadb.sql(`${charset("shop")}; ${charset("beside")}; ${triggers}`)).toBe(
      "utf16\nlatin1\nbeside\tkept",
    );
    expect(
      mariadb.sql("insert into beside.orders values (3, 'x'); select note from beside.orders where id = 3"),
    ).toContain("ALTER DATABASE `shop`");
    mariadb.sql("drop database shop");
    const alone = await restore("maria", "--into", "alone");
    expect(alone.code, alone.stderr).toBe(0);
    expect(mariadb.sql(`${triggers}; select count(*) from alone.orders`)).toBe(
      "alone\tkept\nbeside\tkept\n2",
    );
  });
});

describe("a ciphertext that changes on this host after it was found right", () => {
  /** Restores a copy of a stored backup; of it a bit flips once, before it is loaded. */
  async function load(source: "pg" | "maria", target: Target): Promise<{ readings: number }> {
    const directory = join(place.dir, "stored", source);
    const [name = ""] = readdirSync(directory).filter((each) => each.endsWith(".age"));
    const stored = readFileSync(join(directory, name));
    const path = join(place.dir, `${source}.age`);
    writeFileSync(path, stored);
    let readings = 1;
    const reading = new SecondReading(async () => {
      readings++;
      await writeFile(path, stored);
    });
    const identities = await readIdentities([join(root, "keys/age.key")]);
    try {
      await reading.orAgain(() =>
        restoreIntoTarget({
          ciphertext: { path },
          identities,
          target,
          signal: new AbortController().signal,
          onProgress: ({ phase }) => {
            const other = Buffer.from(stored);
            other[other.length - 20]! ^= 1;
            if (phase === "decrypt" && readings === 1) writeFileSync(path, other);
          },
        }),
      );
    } finally {
      await target.close();
    }
    return { readings };
  }

  it("is read again for PostgreSQL, which took nothing of it", async () => {
    process.env["TEST_TARGET_URL"] = postgres.url("restorer", PASSWORD, "shop");
    const target = await openPostgresqlTarget(
      { connection: { kind: "env", name: "TEST_TARGET_URL" }, database: "once_more", mayHaveContent: false },
      { locale: { provider: "libc", collate: "C.UTF-8", ctype: "C.UTF-8" } },
      new AbortController().signal,
    );
    expect(target.leavesPart).toBeNull();
    expect(await load("pg", target)).toEqual({ readings: 2 });
    expect(inPostgres("once_more", "select count(*) from orders")).toBe("500");
  });

  it("ends a restore into MariaDB, which may have a part of it, and nobody calls the backup damaged", async () => {
    const url = join(place.dir, "url");
    writeFileSync(url, mariadb.url("restorer", PASSWORD));
    const target = await openMariadbTarget(
      { connection: { kind: "file", path: url }, database: "once", mayHaveContent: false },
      {},
      { scratchDir: place.dir, signal: new AbortController().signal },
    );
    await expect(load("maria", target)).rejects.toMatchObject({
      code: "ciphertext_unavailable",
      message: expect.stringMatching(/changed on this host .* once has a part of the backup only: drop it/),
    });
  });
});
