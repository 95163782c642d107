import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { chown, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { CheckConfig } from "../../../src/config/source-config.ts";
import {
  createDefiners,
  limitAccounts,
  LOADER,
  openSession,
  READER,
} from "../../../src/engines/mariadb/copy/accounts.ts";
import { findServerPrograms } from "../../../src/engines/mariadb/connection/programs.ts";
import { startMariadbIn } from "../../../src/engines/mariadb/sandbox/scratch-mariadb.ts";
import type { ScratchServer } from "../../../src/engines/scratch-server.ts";
import { RunError } from "../../../src/errors/run-error.ts";
import type { ProgramRequest } from "../../../src/processes/run-program.ts";
import { unprivilegedUser } from "../../../src/processes/unprivileged-user.ts";
import { openProcessPlace } from "../../../src/sandboxes/process/process-place.ts";
import { childrenNamed } from "../scratch.ts";
import {
  back,
  never,
  nothingLeft,
  place,
  server,
  SETTINGS,
  testIt,
  useShopOnMariadb,
} from "./shop-on-mariadb.ts";

useShopOnMariadb();

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
  await expect.poll(isInUse).toBe(true);
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
    { id: "inferred:kinds", result: "passed" },
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
