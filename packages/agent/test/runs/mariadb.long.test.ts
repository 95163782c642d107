import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { chown, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mariadb } from "../../src/engines/mariadb/index.ts";
import { writeConnectionFile } from "../../src/engines/mariadb/connection.ts";
import { serverVersion } from "../../src/engines/mariadb/server-version.ts";
import { roundedFloats } from "../../src/engines/mariadb/float-columns.ts";
import { MariadbSession } from "../../src/engines/mariadb/session.ts";
import { lossyTexts } from "../../src/engines/mariadb/text-columns.ts";
import { startChild } from "../../src/processes/child.ts";
import { findClient, findServerPrograms } from "../../src/engines/mariadb/programs.ts";
import { startMariadbIn } from "../../src/engines/mariadb/scratch-mariadb.ts";
import { unprivilegedUser } from "../../src/processes/unprivileged-user.ts";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { RunError } from "../../src/errors/run-error.ts";
import type { EarlierTests } from "../../src/checks/index.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { CheckConfig, SourceConfigOf } from "../../src/config/source-config.ts";
import { openProcessPlace } from "../../src/sandboxes/process/process-place.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { keptAll, seenTables } from "./earlier-tests-in.ts";
import { childrenNamed, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";
import {
  createDefiners,
  limitAccounts,
  LOADER,
  openSession,
  READER,
} from "../../src/engines/mariadb/accounts.ts";
import type { ScratchServer } from "../../src/engines/scratch-server.ts";
import type { ProgramRequest } from "../../src/processes/run-program.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

const never = new AbortController().signal;
const ROWS = 5_000;
const SETTINGS = { ignoresCase: false, pageSize: null, memory_mb: 1024 };
/** Everything that an option file or a URL could trip over. */
const PASSWORD = `a"b'c#d\\e;f %40&ü\\n`;

let place: TestPlace;
let server: SourceMariadb;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  server.sql(`
    create database shop default character set utf8mb4; create database \`od-d \`\`name\`; use shop;
    create table orders (id bigint unsigned not null auto_increment primary key, status enum('paid', 'shipped') not null default 'paid',
      price decimal(12, 2) not null check (price >= 0), note text, photo blob, flag bit(3) default b'101', padded int(8) zerofill default 42,
      doubled decimal(13, 2) as (price * 2) stored, key by_status (status, price), fulltext key words (note)) engine = InnoDB;
    set session ${server.product === "MySQL" ? "cte_max_recursion_depth" : "max_recursive_iterations"} = 1000000;
    insert into orders (price, note, photo) with recursive numbers (seq) as (select 1 union all select seq + 1 from numbers where seq < ${ROWS})
      select seq, concat('secret note ', seq, ' "\\n\\t\\\\ it''s ü€😀'), unhex('00ff0d0a5c27') from numbers;
    create table items (order_id bigint unsigned not null, n int, foreign key (order_id) references orders (id) on delete cascade);
    insert into items select id, id % 7 from orders;
    create table old_fashioned (a int) engine = MyISAM;
    insert into old_fashioned values (1), (2), (3), (4);
    create table years (y int) partition by range (y) (partition p0 values less than (2000), partition p1 values less than maxvalue);
    ${server.product === "MySQL" ? "create user gone@nowhere identified by 'x'; grant all on shop.* to gone@nowhere;" : ""}
    create definer = 'gone'@'nowhere' view paid as select id, price from orders where status = 'paid';
    create definer = 'gone'@'nowhere' function twice(n int) returns int deterministic return 2 * n;
    create trigger no_negatives before insert on items for each row set new.n = abs(new.n);
    create event nightly on schedule every 1 day do delete from items where n > 1000;
    use \`od-d \`\`name\`; create table \`we;ird\`\`t\` (\`a b\` int); insert into \`we;ird\`\`t\` values (7);
    create user limited@localhost identified by 'hush-hush'; grant select on shop.orders to limited@localhost;
    create user special@localhost identified by ${`'${PASSWORD.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`}; grant all on *.* to special@localhost;
  `);
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

function back(more: Partial<SourceConfigOf<"mariadb" | "mysql">> = {}, signal = never): Promise<MadeBackup> {
  return backUp(place, { ...server.source, ...more }, signal);
}

function testIt(
  checks: CheckConfig[] = [],
  more: {
    made?: Resealed;
    metadata?: Record<string, unknown>;
    seen?: EarlierTests;
    timeout_s?: number;
  } = {},
): Promise<RestoreTestResult> {
  const made = more.made ?? backup;
  return testBackup(place, { ...server.source, checks, checkTimeout_s: more.timeout_s ?? 60 }, backup, {
    instead: made,
    metadata: more.metadata,
    seen: more.seen,
  });
}

const nothingLeft = (): void => {
  expect(readdirSync(place.scratch)).toEqual([]);
  for (const name of ["mariadb", "mariadb-dump", "mysql", "mysqldump"])
    expect(childrenNamed(name), name).toEqual([]);
};

test("the metadata describe the dump, and have no row of it", () => {
  expect(backup.sourceMetadata).toMatchObject({
    engine: server.source.engine,
    engine_version: expect.stringMatching(
      server.product === "MySQL" ? /^[89]\.[0-9]+\.[0-9]+/ : /^1[01]\.[0-9]+\.[0-9]+-MariaDB/,
    ),
    dump_format: "mysqldump-sql",
    schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    databases: ["shop"],
    table_count: 4,
    non_transactional_tables: 1,
  });
  const tables = backup.sourceMetadata["tables"] as { name: string; rows?: number; rows_at_least?: number }[];
  expect(
    Object.fromEntries(tables.map(({ name, rows, rows_at_least }) => [name, rows ?? rows_at_least])),
  ).toEqual({
    "shop.orders": ROWS,
    "shop.items": ROWS,
    "shop.years": 0,
    // Without transactions, and yet known: the rows in the dump were counted.
    "shop.old_fashioned": 4,
  });
  const summary = JSON.stringify(backup.sourceMetadata["schema_summary"]);
  expect(summary).toContain(`"column price":"0003 decimal(12,2) not null"`);
  expect(summary).toContain("twice");
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain("secret note");
});

test("a restore test passes if the schema and every count are the same", async () => {
  const tested = await testIt([
    {
      id: "sum",
      query:
        "select sum(price) as total, max(padded) as padded, max(flag) as flag, hex(max(photo)) as photo from orders; ",
      expect: `total = ${(ROWS * (ROWS + 1)) / 2} and padded = 42 and flag = 5 and photo = '00FF0D0A5C27'`,
    },
    {
      id: "text",
      query: "select note from orders where id = 1 -- a comment",
      expect: `note = 'secret note 1 "\n\t\\ it''s ü€😀'`,
    },
    {
      id: "defined",
      query: "select twice(21) as n, (select count(*) from paid) as m",
      expect: `n = 42 and m = ${ROWS}`,
    },
    { id: "other-db", query: "select count(*) as n from shop.years", expect: "n = 0" },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested).toMatchObject({
    result: "passed",
    runtime: { kind: "process", engine: server.source.engine },
  });
  expect(tested.checks.map(({ id, result }) => `${id} ${result}`).toSorted()).toEqual([
    "defined passed",
    "inferred:content passed",
    "inferred:foreign_keys passed",
    "inferred:objects passed",
    "inferred:rows:shop.items passed",
    "inferred:rows:shop.old_fashioned passed",
    "inferred:rows:shop.orders passed",
    "inferred:rows:shop.years passed",
    "inferred:schema passed",
    "inferred:tables passed",
    "other-db passed",
    "sum passed",
    "text passed",
  ]);
  nothingLeft();
});

test("a FLOAT that the dump program would round is no backup", async () => {
  server.sql(
    "create database exact; use exact; create table f (id int primary key, a float, b float(10, 6), d double); insert into f values (1, 0.1, 1.1234567, 0.1), (2, 1.5e10, 2, 1e300), (3, null, null, null)",
  );
  try {
    const made = await back({ databases: ["exact"] });
    const sum = {
      id: "sum",
      query: "select count(*) as n from f where a = cast(0.1 as float) and b > 1.123 and d = 0.1e0",
      expect: "n = 1",
    };
    expect(await testIt([sum], { made, metadata: made.sourceMetadata })).toMatchObject({ result: "passed" });
    server.sql("insert into exact.f values (4, 16777217, 0, 0)");
    const before = readdirSync(place.blobs);
    await expect(back({ databases: ["exact"] })).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringMatching(/rounds FLOAT to six digits, and exact\.f\.a has values with more/),
    });
    expect(readdirSync(place.blobs)).toEqual(before);
    server.sql("alter table exact.f modify a double");
    const doubled = await back({ databases: ["exact"] });
    const all: CheckConfig = {
      id: "all",
      query: "select max(a = 16777216) as n from f",
      expect: "n = 1",
    };
    expect((await testIt([all], { made: doubled, metadata: doubled.sourceMetadata })).result).toBe("passed");
  } finally {
    server.sql("drop database exact");
  }
});

test("a text with a character that the dump cannot hold is no backup", async () => {
  server.sql(`create database texts; use texts;
    create table t (id int primary key, a varchar(9) character set cp1251, b text character set gbk, c char(9) character set latin1);
    insert into t values (1, x'c0e1', '中文', x'81e4'), (2, '?', null, '')`);
  try {
    const made = await back({ databases: ["texts"] });
    expect(made.sourceMetadata["content"]).toMatchObject({ not_compared: { count: 0 } });
    expect(await testIt([], { made, metadata: made.sourceMetadata })).toMatchObject({ result: "passed" });
    for (const [column, value] of [
      ["a", "x'c098'"],
      ["b", "x'a140'"],
    ]) {
      server.sql(`insert into texts.t (id, ${column}) values (4, ${value})`);
      const before = readdirSync(place.blobs);
      await expect(back({ databases: ["texts"] })).rejects.toMatchObject({
        code: "dump_failed",
        message: expect.stringContaining(`texts.t.${column} has a character that utf8mb4 lacks`) as string,
      });
      expect(readdirSync(place.blobs)).toEqual(before);
      server.sql("delete from texts.t where id = 4");
    }
  } finally {
    server.sql("drop database texts");
  }
});

/** Sessions beside the agent's own. */
async function openSessions(count: number) {
  const connection = await writeConnectionFile(server.source.connection, place.scratch);
  const client = await findClient();
  const open = () =>
    MariadbSession.open(
      ({ args }) =>
        startChild({
          command: client,
          args: [`--defaults-file=${connection.path}`, ...args],
          env: connection.env,
          signal: never,
        }),
      never,
    );
  const sessions = await Promise.all(Array.from({ length: count }, open));
  const close = async (): Promise<void> => {
    for (const session of sessions) await session.close();
    await connection.remove();
  };
  return { sessions, close };
}

test("a value that a dump would round is found in a table that is too large to be read in time", async () => {
  server.sql(`create database large; create table large.t (x float, y float); insert into large.t values (1, 16777217);
    insert into large.t select 1, 1 from information_schema.columns a, information_schema.columns b limit 3000000`);
  const { sessions, close } = await openSessions(1);
  try {
    const [looking] = sessions;
    const version = await serverVersion(looking!);
    const floats = await roundedFloats(looking!, ["large"], version, 0.4);
    expect(floats).toEqual({ changed: ["large.t.y"], notExamined: ["large.t.x"] });
  } finally {
    await close();
    server.sql("drop database large");
  }
});

test("a column that cannot be read in time does not hold up a backup, and is not examined", async () => {
  server.sql(`create database locked; use locked; create table a (x float, y text character set cp1251); insert into a values (1, 'a');
    create table b (x float, y text character set cp1251); insert into b values (1, x'98')`);
  const { sessions, close } = await openSessions(2);
  const [locking, looking] = sessions as [MariadbSession, MariadbSession];
  try {
    expect(await locking.run("lock tables locked.a write")).toMatchObject({ ok: true });
    const version = await serverVersion(looking);
    const floats = await roundedFloats(looking, ["locked"], version, 12);
    expect(floats).toEqual({ changed: [], notExamined: ["locked.a.x"] });
    const texts = await lossyTexts(looking, ["locked"], version, 12);
    expect(texts).toEqual({ changed: ["locked.b.y"], notExamined: ["locked.a.y"] });
  } finally {
    await close();
    server.sql("drop database locked");
  }
});

test("a table whose default takes the value of a sequence does not come back from its dump, and the test says what to do", async () => {
  // MySQL has no sequences.
  if (server.product === "MySQL") return;
  server.sql(
    "create database numbered; use numbered; create sequence s; create table t (id int default nextval(s)); insert into t values (5)",
  );
  try {
    const made = await back({ databases: ["numbered"] });
    const tested = await testIt([], { made, metadata: made.sourceMetadata });
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(tested.reason).toContain("locks only the table");
  } finally {
    server.sql("drop database numbered");
  }
});

test("an earlier version of a row with a FLOAT or text that a dump would change is no backup either", async () => {
  // MySQL has no such tables.
  if (server.product === "MySQL") return;
  for (const [type, value, why] of [
    ["float", "16777217", "rounds FLOAT to six digits"],
    ["varchar(9) character set cp1251", "x'98'", "has a character that utf8mb4 lacks"],
  ]) {
    server.sql(`create database past; use past; create table v (id int primary key, x ${type}) with system versioning;
      insert into v values (1, ${value}); update v set x = 0`);
    try {
      await expect(back({ databases: ["past"] })).rejects.toMatchObject({
        code: "dump_failed",
        message: expect.stringContaining(why ?? "") as string,
      });
    } finally {
      server.sql("drop database past");
    }
  }
});

test("the earlier versions of rows are backed up, counted and come back", async () => {
  // MySQL has no such tables.
  if (server.product === "MySQL") return;
  server.sql(
    "create database past; use past; create table v (id int primary key, x int) with system versioning; insert into v values (1, 1), (2, 2); update v set x = x + 1; delete from v where id = 2",
  );
  try {
    const made = await back({ databases: ["past"] });
    expect(made.sourceMetadata).toMatchObject({
      table_count: 1,
      tables: [
        { name: "past.v", rows: 1 },
        { name: "past.v (history)", rows: 4 },
      ],
    });
    const versions: CheckConfig = {
      id: "versions",
      query: "select count(*) as n, count(distinct x) as m from v for system_time all",
      expect: "n = 4 and m = 3",
    };
    const tested = await testIt([versions], {
      made,
      metadata: made.sourceMetadata,
      seen: seenTables(made),
    });
    expect(tested.reason).toBeUndefined();
    expect(tested.checks).toContainEqual(keptAll(2));
    // A copy that lost them is found, though every row of today is there.
    const tables = [
      { name: "past.v", rows: 1 },
      { name: "past.v (history)", rows: 5 },
    ];
    const lost = await testIt([], { made, metadata: { ...made.sourceMetadata, tables } });
    expect(lost.reason).toContain("inferred:rows:past.v (history)");
  } finally {
    server.sql("drop database past");
  }
});

test("all databases at once, odd names too", async () => {
  const made = await back({ databases: "all" });
  // The connection's own is first, and checks run in it.
  expect(made.sourceMetadata["databases"]).toEqual(["shop", "od-d `name"]);
  const tested = await testIt(
    [{ id: "own", query: "select count(*) as n from orders", expect: `n = ${ROWS}` }],
    { made, metadata: made.sourceMetadata },
  );
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.map(({ id }) => id)).toContain("inferred:rows:`od-d ``name`.`we;ird``t`");
});

test("the clients of a scratch server go there, whatever else on the host names a server", async () => {
  const programs = await findServerPrograms("MariaDB");
  const scratch = await openProcessPlace(place.scratch);
  const started = await startMariadbIn(scratch, programs, SETTINGS, never);
  try {
    const client = await scratch.start({
      command: programs.client,
      args: [...started.connection, "--batch", "--execute=select @@skip_networking as isolated"],
      // Read before the arguments, as MySQL's login file is, which --no-defaults does not turn off.
      env: { MYSQL_HOST: "127.0.0.1" },
      signal: never,
    });
    client.stdin.end();
    expect([await text(client.stdout), (await client.exited).stderr]).toEqual(["isolated\n1\n", ""]);
  } finally {
    await started.close();
  }
});

test("a scratch server loads no code, not even code that a dump's statements wrote where they may write", async () => {
  const programs = await findServerPrograms("MariaDB");
  const scratch = await openProcessPlace(place.scratch);
  const started = await startMariadbIn(scratch, programs, SETTINGS, never);
  try {
    const written = join(scratch.sockets, "code.so");
    const client = await scratch.start({
      command: programs.client,
      args: [...started.connection],
      signal: never,
    });
    client.stdin.end(
      `select 'code' into dumpfile '${written}';\ncreate function f returns integer soname 'code.so';\n`,
    );
    await text(client.stdout);
    // If it had found the file, the error would be "file too short".
    expect((await client.exited).stderr).toMatch(/^ERROR 1126 .*Not a directory/m);
    expect(existsSync(written)).toBe(true);
  } finally {
    await started.close();
  }
});

test("the account that fills the databases may do nothing else, and no account may more", async () => {
  const programs = await findServerPrograms("MariaDB");
  const scratch = await openProcessPlace(place.scratch);
  const started = await startMariadbIn(scratch, programs, SETTINGS, never);
  const { product, version } = programs.server;
  const limited = {
    runtime: {
      kind: "process",
      engine: "mariadb",
      engine_version: product === "MariaDB" ? `${version}-MariaDB` : version,
    },
    run: (_: string, request: ProgramRequest) =>
      scratch.start({ ...request, command: programs.client, args: [...started.connection, ...request.args] }),
  } as ScratchServer;
  try {
    const admin = await limitAccounts(limited, never);
    await createDefiners(admin, ["root@localhost", "mallory@%"]);
    const loader = await openSession(limited, LOADER, never);
    const codeOf = async (sql: string): Promise<number> => {
      const done = await loader.run(sql);
      return done.ok ? 0 : done.code;
    };
    for (const sql of [
      "create database shop",
      "use shop",
      "create table t (a int)",
      "insert into t values (1)",
    ])
      expect(await codeOf(sql), sql).toBe(0);
    for (const sql of [
      `load data local infile '${place.dir}/x' into table t`,
      "load data infile '/etc/passwd' into table t",
      `select 'x' into outfile '${scratch.sockets}/x'`,
      "set global event_scheduler = 1",
      "set global local_infile = 1",
      `set global general_log_file = '${place.dir}/x'`,
      "change master to master_host = '127.0.0.1'",
      "create user more@localhost",
      "grant all on *.* to attestore_load@localhost",
      "delete from mysql.user",
      "insert into mysql.db select * from mysql.db",
      "create table mysql.t (a int)",
      "select count(*) from mysql.user",
      "drop database mysql",
      "flush privileges",
      "install soname 'x'",
      "create server s foreign data wrapper mysql options (host '127.0.0.1')",
      "shutdown",
    ])
      expect([sql, await codeOf(sql)]).toEqual([
        sql,
        expect.toBeOneOf([1044, 1045, 1064, 1142, 1227, 1290, 1396, 3948, 4166]),
      ]);
    // Whatever account it names as its definer, it runs with rights to read or not at all.
    for (const definer of [
      "root@localhost",
      "`mariadb.sys`@localhost",
      "`mysql.sys`@localhost",
      "mallory@`%`",
    ]) {
      const made = await codeOf(`create or replace definer = ${definer} view v as select 1`);
      await codeOf("drop procedure if exists p");
      await codeOf(
        `create definer = ${definer} procedure p() sql security definer insert into mysql.db select * from mysql.db`,
      );
      expect([made, await codeOf("call p()")], definer).toEqual([
        expect.toBeOneOf([0, 1227]),
        expect.toBeOneOf([1142, 1305, 1370, 1449]),
      ]);
    }
    const accounts = product === "MariaDB" ? "global_priv" : "user";
    const left = await admin.run(
      `select user from mysql.${accounts} where user not like 'mysql.%' order by 1`,
    );
    expect(left.ok && left.rows.flat().filter((user) => !/^attestore_[0-9a-f]{16}$/.test(user))).toEqual([
      LOADER,
      READER,
      "mallory",
      "root",
    ]);
    await loader.close();
    await admin.close();
  } finally {
    await started.close();
  }
});

test("a check that looks into no table has read no data, and a database without one proves nothing", async () => {
  const looking: CheckConfig[] = [
    { id: "constant", query: "select 1 as n", expect: "n = 1" },
    {
      id: "catalogue",
      query: "select count(*) >= 0 as n from information_schema.tables",
      expect: "n = 1",
    },
  ];
  server.sql("create database hollow");
  try {
    const made = await back({ databases: ["hollow"] });
    expect(await testIt(looking, { made, metadata: made.sourceMetadata })).toMatchObject({
      result: "failed",
      reason: "no check read any data",
    });
  } finally {
    server.sql("drop database hollow");
  }
  // By a view, in the shadow of others: it is the query's own tables that count.
  const through: CheckConfig = { id: "view", query: "select count(*) as n from paid", expect: `n = ${ROWS}` };
  expect((await testIt([through, ...looking], { metadata: { tables: [] } })).result).toBe("passed");
  expect((await testIt(looking, { metadata: { tables: [] } })).reason).toBe("no check read any data");
});

test("the temporary tables of other servers of the host stay where they are", async () => {
  const theirs = join(tmpdir(), `#sql-temptable-${process.pid}-1-0.MAI`);
  await writeFile(theirs, "");
  // As a server has it that runs as the same user.
  const user = await unprivilegedUser();
  if (user !== null) await chown(theirs, user.uid, user.gid);
  try {
    expect((await testIt()).result).toBe("passed");
    expect(existsSync(theirs)).toBe(true);
  } finally {
    await rm(theirs, { force: true });
  }
});

test("rows that are written meanwhile cause no false alarm", async () => {
  const stop = new AbortController();
  const writer = (async () => {
    while (!stop.signal.aborted) {
      server.sql("insert into shop.items select id, 9 from shop.orders limit 50");
      await new Promise(setImmediate);
    }
  })();
  const made = await back();
  stop.abort();
  await writer;
  const tested = await testIt([], { made, metadata: made.sourceMetadata });
  server.sql(`delete from shop.items where n = 9`);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
});

describe("checks that do not hold", () => {
  test("no row, several, NULL, a mistake, a second statement, a shell, an attempt to write, two of one name", async () => {
    const check = (id: string, query: string, expectation = "n = 1"): CheckConfig => ({
      id,
      query,
      expect: expectation,
    });
    const tested = await testIt([
      check("none", "select 1 as n from dual where false"),
      check("several", "select id as n from orders", "n >= 1"),
      check("null", "select null as n", "n >= 0"),
      check("mistake", "select n from nowhere"),
      check("second", "select 1 as n; drop table orders"),
      check("second-in-view", "select 1 as n) q; drop table orders; select * from (select 1 as n"),
      check("shell", "select 1 as n \\! touch /tmp/attestore-was-here"),
      check("outfile", "select 1 as n into outfile '/tmp/attestore-was-here'"),
      check("twice", "select 1 as n, 2 as n"),
      check("holds", "select count(*) as n from orders", `n = ${ROWS}`),
    ]);
    expect(tested.result).toBe("failed");
    expect(
      tested.checks
        .filter(({ id, result }) => !id.startsWith("inferred:") && result === "passed")
        .map(({ id }) => id),
    ).toEqual(["holds"]);
    expect(existsSync("/tmp/attestore-was-here")).toBe(false);
  });

  test("a query that takes too long fails, because a hostile dump must not be able to prevent a result", async () => {
    const { result, checks } = await testIt(
      [{ id: "slow", query: "select sleep(60) as n", expect: "n = 0" }],
      { timeout_s: 1 },
    );
    expect(result).toBe("failed");
    expect(checks.find(({ id }) => id === "slow")?.observed).toEqual({
      error:
        "the query did not end within 1 s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper",
    });
    nothingLeft();
  });
});

test("a scratch server that dies in use ends every waiting call", async () => {
  const [program, client] = server.product === "MySQL" ? ["mysqld", "mysql"] : ["mariadbd", "mariadb"];
  const before = childrenNamed(program);
  const tested = testIt([{ id: "slow", query: "select sleep(59) as n", expect: "n = 0" }]);
  const settled = tested.then(
    () => true,
    () => true,
  );
  const scratch = (): number[] => childrenNamed(program).filter((pid) => !before.includes(pid));
  const isInUse = (): boolean => scratch().length > 0 && childrenNamed(client).length > 0;
  await expect.poll(isInUse, { timeout: 30_000 }).toBe(true);
  for (const pid of scratch()) process.kill(pid, "SIGKILL");
  expect(await settled).toBe(true);
  await expect(tested).rejects.toBeInstanceOf(RunError);
  nothingLeft();
});

test("code that a user of the source defined runs in a check with rights to read, and no others", async () => {
  const log = join(place.dir, "by-a-view.log");
  server.sql(`
    create database crowded; use crowded; create table t (a int); insert into t values (1), (2);
    create user mallory@localhost; grant all on crowded.* to mallory@localhost;
    delimiter $
    create definer = mallory@localhost function counted() returns int reads sql data begin return (select count(*) from t); end $
    create definer = mallory@localhost function logged() returns int reads sql data begin set global general_log_file = '${log}'; return 1; end $
    delimiter ;
    create definer = mallory@localhost view honest as select counted() as n;
    create definer = mallory@localhost view hostile as select logged() as n;`);
  const made = await back({ databases: ["crowded"] });
  const tested = await testIt(
    [
      { id: "honest", query: "select n from honest", expect: "n = 2" },
      { id: "hostile", query: "select n from hostile", expect: "n = 1" },
    ],
    { made, metadata: { ...made.sourceMetadata } },
  );
  server.sql("drop database crowded; drop user mallory@localhost");
  expect(tested.checks).toMatchObject([
    { id: "inferred:tables", result: "passed" },
    { id: "inferred:rows:crowded.t", result: "passed" },
    { id: "honest", result: "passed" },
    { id: "hostile", result: "failed" },
    { id: "inferred:schema", result: "passed" },
    { id: "inferred:content", result: "passed" },
    { id: "inferred:objects", result: "passed" },
  ]);
  expect(existsSync(log)).toBe(false);
});

test("tables that lie in directories of the source's host are restored in scratch, and nowhere else", async () => {
  const outside = join(place.dir, "outside");
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  server.sql(`create database spread; use spread;
    create table far (a int) engine = InnoDB data directory = '${outside}'; insert into far values (1);
    create table far_too (a int) engine = MyISAM data directory = '${outside}' index directory = '${outside}'; insert into far_too values (1);`);
  const before = readdirSync(outside, { recursive: true });
  expect(before.length).toBeGreaterThan(0);
  const made = await back({ databases: ["spread"] });
  // Once beside the source's own files, and once where there is nothing in the way.
  const beside = await testIt([], { made, metadata: { ...made.sourceMetadata } });
  expect(readdirSync(outside, { recursive: true })).toEqual(before);
  server.sql("drop database spread");
  const alone = await testIt([], { made, metadata: { ...made.sourceMetadata } });
  expect([beside.reason, beside.result, alone.reason, alone.result]).toEqual([
    undefined,
    "passed",
    undefined,
    "passed",
  ]);
  expect(readdirSync(outside, { recursive: true }).filter((name) => !String(name).match(/^spread$/))).toEqual(
    [],
  );
});

describe("damage", () => {
  async function resealed(change: (sql: string) => string): Promise<Resealed> {
    const pieces: Buffer[] = [];
    for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
      pieces.push(Buffer.from(piece));
    const before = Buffer.concat(pieces).toString("latin1");
    const after = change(before);
    expect(after).not.toBe(before);
    return reseal(place, Buffer.from(after, "latin1"));
  }
  const failing = async (made: Resealed): Promise<string[]> => {
    const tested = await testIt([], { made });
    expect(tested.result).toBe("failed");
    nothingLeft();
    return tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id);
  };

  test.each([
    ["truncated", (bytes: Buffer) => bytes.subarray(0, -100)],
    ["flipped", (bytes: Buffer) => bytes.fill((bytes.at(2_000) ?? 0) ^ 1, 2_000, 2_001)],
  ])("a ciphertext that is %s, under the recorded digest and under its own", async (_, change) => {
    const bytes = change(readFileSync(backup.path));
    const path = join(place.dir, "damaged.age");
    await writeFile(path, bytes);
    for (const sha256 of [backup.sha256, createHash("sha256").update(bytes).digest("hex")])
      expect(await testIt([], { made: { path, sha256 } })).toMatchObject({ result: "failed", checks: [] });
  });

  test("a missing table", async () => {
    const section = /-- Table structure for table `years`[^]*?(?=--\n-- (?:T|Dumping (?:events|routines)))/;
    expect(await failing(await resealed((sql) => sql.replace(section, "")))).toEqual([
      "inferred:tables",
      "inferred:schema",
      "inferred:objects",
    ]);
    // Its rows are there, and nowhere to go.
    const made = await resealed((sql) => sql.replace("CREATE TABLE `years`", "CREATE TABLE `yearz`"));
    expect(await testIt([], { made })).toMatchObject({ result: "failed", checks: [] });
  });

  test("an emptied table", async () => {
    const made = await resealed((sql) => sql.replace(/INSERT INTO `items` VALUES[^;]*;/g, ""));
    expect(await failing(made)).toEqual(["inferred:rows:shop.items", "inferred:content"]);
  });

  test("a table that is short of one row", async () => {
    const made = await resealed((sql) =>
      sql.replace(/INSERT INTO `items` VALUES\s*\(1,1\),/, "INSERT INTO `items` VALUES"),
    );
    expect(await failing(made)).toEqual(["inferred:rows:shop.items", "inferred:content"]);
  });

  test("a row that breaks a rule; it is not quoted", async () => {
    const made = await resealed((sql) => sql.replace("(777,'paid',777.00,", "(777,'paid',-77.00,"));
    const tested = await testIt([], { made });
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(tested.reason).toMatch(
      /^the dump cannot be loaded \(error (?:4025, SQLSTATE 23000|3819, SQLSTATE HY000), at line [0-9]+ of the dump\): a row breaks the check constraint (?:orders\.price|orders_chk_1)\. /,
    );
    expect(tested.reason).not.toMatch(/77/);
  });

  test("a dump that ends between two statements", async () => {
    const made = await resealed((sql) => sql.slice(0, sql.lastIndexOf("-- Dump completed")));
    expect(await testIt([], { made })).toMatchObject({
      result: "failed",
      reason: "the dump's last line is missing: it was cut short",
    });
  });

  test("a dump with a command for a shell runs none", async () => {
    const made = await resealed((sql) =>
      sql.replace("USE `shop`;", "USE `shop`;\n\\! touch /tmp/attestore-was-here\n"),
    );
    expect(await testIt([], { made })).toMatchObject({ result: "failed", checks: [] });
    expect(existsSync("/tmp/attestore-was-here")).toBe(false);
  });

  describe("a dump whose statements reach for more than the restored databases", () => {
    const spoils = (): string => join(place.dir, "spoils");
    beforeAll(async () => {
      // Where the scratch server's user may write, whoever that is.
      mkdirSync(spoils());
      chmodSync(spoils(), 0o777);
      await writeFile(join(place.dir, "age.key"), "AGE-SECRET-KEY-1SPOILS\n", { mode: 0o600 });
    });

    test.each([
      [
        "reads a file of ours through the client",
        "set global local_infile = 1; create table leak (l text); load data local infile '{dir}/age.key' into table leak; drop table leak;",
      ],
      [
        "appends to files by the general log",
        "set global general_log_file = '{spoils}/authorized_keys'; set global general_log = 1; select 'ssh-ed25519 AAAA'; set global general_log = 0;",
      ],
      [
        "runs as an account that may more",
        "create definer = root@localhost procedure p() sql security definer set global event_scheduler = 1; call p();",
      ],
    ])("%s: is refused, and nothing of it is done", async (_, statements) => {
      const filled = statements.replaceAll("{spoils}", spoils()).replaceAll("{dir}", place.dir);
      const made = await resealed((sql) =>
        sql.replace(/\n(?=-- Dump completed)/, `\nuse shop;\n${filled}\n`),
      );
      const tested = await testIt([], { made });
      expect(tested).toMatchObject({ result: "failed", checks: [] });
      expect(tested.reason).toMatch(
        /^the dump cannot be loaded \(error (?:1044|1045|1095|1142|1227|1290|1370|1449|3948|4166),/,
      );
      expect(readdirSync(spoils())).toEqual([]);
      nothingLeft();
    });
  });

  test.each([
    [
      "by an error of its own that says so",
      "signal sqlstate 'HY000' set mysql_errno = 1021, message_text = 'Errcode: 28';",
    ],
    ["in a routine", "begin not atomic signal sqlstate 'HY000' set mysql_errno = 1286; end;"],
    ["by the end of its connection", "kill connection_id();"],
    [
      "by a text in a statement that fails",
      "insert into no_such values ('\nERROR 1021 (HY000) at line 1: No space left on device');",
    ],
  ])("a dump does not choose that its test could not run, %s", async (_, statement) => {
    const made = await resealed((sql) =>
      sql.replace(/\n(?=-- Dump completed)/, () => `\nuse shop;\n${statement}\n`),
    );
    expect(await testIt([], { made })).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("the dump cannot be loaded"),
    });
    nothingLeft();
  });

  test("a place that is too old, of another product, or lacks something, could not run", async () => {
    const [newer, other] =
      server.product === "MySQL" ? ["99.1.0", "10.11.6-MariaDB"] : ["99.1.0-MariaDB", "8.0.36"];
    await expect(testIt([], { metadata: { engine_version: newer } })).rejects.toMatchObject({
      code: "tool_too_old",
    });
    await expect(testIt([], { metadata: { engine_version: other } })).rejects.toMatchObject({
      code: "tool_missing",
    });
    await expect(
      testIt([], { metadata: { storage_engines: ["InnoDB", "Columnstore"] } }),
    ).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining("Columnstore"),
    });
    const made = await resealed((sql) => sql.replaceAll(/utf8mb4_\w+_ci/g, "utf8mb4_nowhere_ci"));
    await expect(testIt([], { made })).rejects.toMatchObject({ code: "sandbox_lacks" });
    nothingLeft();
  });

  test("a dump that changes to a database which nobody made fails, and is not taken for a lack of the server", async () => {
    const made = await resealed((sql) => sql.replace("USE `shop`;", "USE `shoq`;"));
    expect(await testIt([], { made })).toMatchObject({
      result: "failed",
      reason: expect.stringMatching(/error 1049.*: it changes to the database shoq, which it does not make/),
    });
    nothingLeft();
  });

  test("a view of a database that is not in the backup could not be made; one of a lost table fails", async () => {
    const reading = (table: string): Promise<Resealed> =>
      resealed((sql) =>
        sql.replace(
          /\n(?=-- Dump completed)/,
          () => `\nuse shop;\ncreate view seen as select * from ${table};\n`,
        ),
      );
    await expect(testIt([], { made: await reading("`ware house`.stock") })).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringMatching(
        /reads the database ware house, which is not in this backup: back up both/,
      ),
    });
    for (const table of ["shop.lost", "mysql.lost"])
      expect(await testIt([], { made: await reading(table) })).toMatchObject({
        result: "failed",
        reason: expect.stringContaining("the dump cannot be loaded"),
      });
    // A dump that does not make its own database is to blame, and MySQL has the same error for it.
    const unmade = await resealed((sql) => sql.replace(/^CREATE DATABASE .*`shop`.*\n/m, ""));
    expect(await testIt([], { made: unmade })).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("the dump cannot be loaded (error 1049"),
    });
    nothingLeft();
  });
});

describe("a dump that fails leaves nothing", () => {
  const failed = async (
    more: Partial<SourceConfigOf<"mariadb" | "mysql">>,
    url?: string,
  ): Promise<unknown> => {
    const before = readdirSync(place.blobs);
    if (url !== undefined) process.env["TEST_OTHER_MARIADB_URL"] = url;
    const error: unknown = await back({
      ...(url === undefined ? {} : { connection: { kind: "env", name: "TEST_OTHER_MARIADB_URL" } }),
      ...more,
    }).catch((thrown: unknown) => thrown);
    expect(readdirSync(place.blobs)).toEqual(before);
    expect(String(error)).not.toContain("hush-hush");
    nothingLeft();
    return error;
  };

  test("without a server, a password, a right, a database", async () => {
    expect(await failed({}, "mysql://root:hush-hush@127.0.0.1:1/shop")).toMatchObject({
      code: "connection_failed",
    });
    expect(await failed({}, server.url("special", "hush-hush"))).toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("Access denied"),
    });
    expect(await failed({}, server.url("limited", "hush-hush"))).toMatchObject({ code: "dump_failed" });
    expect(await failed({ databases: ["gone"] })).toMatchObject({ code: "source_missing" });
    expect(await failed({}, server.url("root", "").replace("/shop", "/"))).toMatchObject({
      code: "connection_reference",
    });
  });

  test("interrupted", async () => {
    const controller = new AbortController();
    const before = readdirSync(place.blobs);
    const running = back({}, controller.signal);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "interrupted" });
    expect(readdirSync(place.blobs)).toEqual(before);
    nothingLeft();
  });
});

test("proposed checks of the newest row's age and of a ratio hold, notice ruined data, and pass a restore test", async () => {
  const digits =
    "(select 0 n union select 1 union select 2 union select 3 union select 4 union select 5 union select 6 union select 7 union select 8 union select 9)";
  const hundred = `(select a.n + 10 * b.n as i from ${digits} a, ${digits} b) q`;
  server.sql(`create database lively; use lively;
    create table \`or ders\` (id int primary key, \`placed at\` timestamp(3) null, due datetime);
    insert into \`or ders\` select i, now(3) - interval i * 5 hour, now() + interval 9 day from ${hundred};
    create table drafts (order_id int, foreign key (order_id) references \`or ders\` (id));
    create table details (order_id int not null, imported datetime default '2020-01-01', foreign key (order_id) references \`or ders\` (id));
    insert into details (order_id) select i from ${hundred}; insert into details (order_id) select i from ${hundred};`);
  const source = { ...server.source, databases: ["lively"] };
  const propose = async (): Promise<unknown> =>
    mariadb.propose?.(source, { scratchDir: place.scratch, signal: never });
  try {
    for (const [type, limit] of [
      ["timestamp(3) null", "age(newest) < 3d"],
      ["datetime", "age(newest) < 4d"],
    ] as const) {
      server.sql(`alter table lively.\`or ders\` modify \`placed at\` ${type}`);
      const proposed = (await propose()) as { checks: CheckConfig[] };
      expect(proposed.checks).toMatchObject([
        { id: "fresh-or-ders", expect: limit },
        { id: "ratio-details-or-ders", expect: "ratio >= 1" },
      ]);
      const made = await back({ databases: ["lively"] });
      const tested = await testIt(proposed.checks, { made, metadata: made.sourceMetadata });
      expect(tested.result, tested.reason).toBe("passed");
      const empty = "an empty lively.`or ders`";
      const column = "lively.`or ders`.placed at";
      const controls = tested.checks.filter(({ negative_control: control }) => control !== undefined);
      expect(
        controls.map(({ id, negative_control: control }) => [id, control?.noticed, control?.not_noticed]),
      ).toEqual([
        ["fresh-or-ders", [empty, `${column} null in every row`, `${column} a year older`], []],
        ["ratio-details-or-ders", ["an empty lively.details", empty], []],
      ]);
    }
    server.sql(
      "update lively.`or ders` set `placed at` = now() + interval 1 year where id = 7; delete from lively.details where order_id > 5",
    );
    expect(await propose()).toMatchObject({
      checks: [],
      notProposed: expect.arrayContaining([
        { id: "the age of lively.`or ders`.`placed at`", why: "it has times in the future" },
        { id: "lively.details for each of lively.`or ders`", why: "there are too few rows" },
      ]),
    });
  } finally {
    server.sql("drop database lively");
  }
  nothingLeft();
});

test("a password of any characters is passed in a file that only we can read, and is in no argument list", async () => {
  process.env["TEST_OTHER_MARIADB_URL"] = server.url("special", PASSWORD);
  const connection = { kind: "env", name: "TEST_OTHER_MARIADB_URL" } as const;
  const file = await writeConnectionFile(connection, place.scratch);
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  await file.remove();
  const seen: string[] = [];
  const dump = await mariadb.dump(
    { ...server.source, connection },
    { scratchDir: place.scratch, signal: never },
  );
  try {
    seen.push(execFileSync("ps", ["axww", "-o", "args"], { encoding: "utf8" }));
    for await (const _ of dump.content);
    expect(await dump.metadata()).toMatchObject({ databases: ["shop"] });
  } finally {
    await dump.close();
  }
  expect(seen[0]).toContain("--single-transaction");
  expect(seen[0]).not.toContain("a\"b'c");
  nothingLeft();
});

test("a dump that ends at its first bytes leaves no connection to the source", async () => {
  const dump = await mariadb.dump(server.source, { scratchDir: place.scratch, signal: never });
  for await (const _ of dump.content) break;
  await dump.close();
  nothingLeft();
});

test("the schema's hash follows the schema, not the data", async () => {
  const hash = async (): Promise<string> => (await back()).sourceMetadata.schema_hash;
  const before = await hash();
  server.sql(
    "use shop; insert into items values (1, 1); delete from items where order_id = 1 and n = 1 limit 1",
  );
  expect(await hash()).toBe(before);
  for (const [change, undo] of [
    ["alter table orders add column extra int", "alter table orders drop column extra"],
    ["create index late on orders (price)", "drop index late on orders"],
    [
      "alter table orders modify padded int(9) zerofill default 42",
      "alter table orders modify padded int(8) zerofill default 42",
    ],
    [
      "drop trigger no_negatives",
      "create trigger no_negatives before insert on items for each row set new.n = abs(new.n)",
    ],
  ] as const) {
    server.sql(`use shop; ${change}`);
    expect(await hash(), change).not.toBe(before);
    server.sql(`use shop; ${undo}`);
    expect(await hash(), undo).toBe(before);
  }
});

test("tables that the source allowed without InnoDB's strict mode, and Aria tables, are restored", async () => {
  const columns = Array.from({ length: 20 }, (_, each) => `c${each} text`).join(", ");
  const aria =
    server.product === "MySQL"
      ? ""
      : `create table crash_safe (a int primary key) engine = Aria transactional = 1;
         create table unsafe (a int primary key) engine = Aria transactional = 0 row_format = fixed;
         insert into crash_safe values (1); insert into unsafe values (1), (2);`;
  server.sql(`
    create database lax; use lax; set session innodb_strict_mode = 0;
    create table wide (id int primary key, ${columns}) engine = InnoDB row_format = compact;
    insert into wide (id, c0) values (1, 'first'); ${aria}
  `);
  const made = await back({ databases: ["lax"] });
  const check: CheckConfig = { id: "wide", query: "select c0 from lax.wide", expect: "c0 = 'first'" };
  const tested = await testIt([check], { made, metadata: made.sourceMetadata });
  expect(tested).toMatchObject({ result: "passed" });
});
