import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMariadbTarget } from "../../src/engines/mariadb/target/target.ts";
import { makeTestPlace, type TestPlace } from "../runs/scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../runs/source-mariadb.ts";
import { type Finished, runCli } from "../service/cli.ts";
import { makeRootOf, PASSWORD, refused, restoreChangingCopy, type RootOfSources } from "./root-of-sources.ts";

let place: TestPlace;
let mariadb: SourceMariadb;
let sources: RootOfSources;
let root: string;
const cli: RootOfSources["cli"] = (...args) => sources.cli(...args);
const restore: RootOfSources["restore"] = (...args) => sources.restore(...args);

beforeAll(async () => {
  place = await makeTestPlace();
  root = join(place.dir, "root");
  mariadb = await startSourceMariadb(place.dir);
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
  sources = await makeRootOf(
    place,
    { maria: `{ engine: ${mariadb.source.engine}, connection: env:MARIADB_URL }` },
    { MARIADB_URL: mariadb.url("restorer", PASSWORD) },
  );
});
afterAll(async () => {
  await mariadb.close();
  await place.remove();
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
  it("ends a restore into MariaDB, which may have a part of it, and nobody calls the backup damaged", async () => {
    const url = join(place.dir, "url");
    writeFileSync(url, mariadb.url("restorer", PASSWORD));
    const target = await openMariadbTarget(
      { connection: { kind: "file", path: url }, database: "once", mayHaveContent: false },
      {},
      { scratchDir: place.dir, signal: new AbortController().signal },
    );
    await expect(restoreChangingCopy(place, "maria", target)).rejects.toMatchObject({
      code: "ciphertext_unavailable",
      message: expect.stringMatching(/changed on this host .* once has a part of the backup only: drop it/),
    });
  });
});
