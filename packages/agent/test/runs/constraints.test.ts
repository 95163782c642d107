import { afterAll, beforeAll, expect, test } from "vitest";
import { constraintsCheck } from "../../src/checks/index.ts";
import { LOADING_ROLE } from "../../src/engines/postgresql/database/loading-role.ts";
import { checkConstraints } from "../../src/engines/postgresql/copy/constraints.ts";
import { PsqlSession } from "../../src/engines/postgresql/connection/psql-session.ts";
import { programsIn } from "../../src/processes/run-program.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** Rows of a restored PostgreSQL database that break a constraint of it. */

const never = new AbortController().signal;

let place: TestPlace;
let server: SourcePostgres;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

function make(database: string, sql: string): void {
  server.sql(`create database ${database} template template0;
    \\connect ${database}
    ${sql}`);
}

async function backUpAndTest(
  database: string,
  more: Partial<SourceConfigOf<"postgresql">> = {},
): Promise<RestoreTestResult> {
  const url = server.url(server.environment["PGUSER"] ?? "", "", database);
  const source = { ...server.source, connection: { kind: "url" as const, url }, ...more };
  const made = await backUp(place, source);
  return testBackup(place, source, made);
}

const constraintsOf = (tested: RestoreTestResult, id = "inferred:foreign_keys") =>
  tested.checks.find((check) => check.id === id);

async function look(database: string, budget_ms = 30_000, role?: string) {
  const as = role === undefined ? {} : { PGUSER: role };
  const environment = { ...as, PGDATABASE: database, PGOPTIONS: "-c default_transaction_read_only=on" };
  const inSession = async <Result>(signal: AbortSignal, use: (session: PsqlSession) => Promise<Result>) => {
    const session = await PsqlSession.open(
      programsIn(server.bin),
      { ...server.environment, ...environment },
      signal,
    );
    try {
      return await use(session);
    } finally {
      await session.close();
    }
  };
  const limits = { beside_ms: budget_ms, alone_ms: budget_ms, signal: never };
  const finishAlone = await checkConstraints(inSession, limits);
  return finishAlone(never);
}

/**
 * Foreign keys of each kind, none of which is broken. PostgreSQL 18 takes none from another
 * collation to one that treats different texts as equal.
 */
const kinds = (): string => `
  create schema "S p";
  create type mood as enum ('a', 'b');
  create domain code as varchar(5);
  create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table "S p"."The ""parent""" (id bigint primary key, c char(4) unique, m mood unique, v varchar(5) unique, nc text collate nocase unique, arr int[] unique, unique (id, c));
  insert into "S p"."The ""parent""" values (1, 'x', 'a', 'one', 'Name', '{1}'), (2, 'y', 'b', 'two', 'Other', '{2}');
  create table child (a smallint constraint by_number references "S p"."The ""parent""" (id), c char(4) constraint by_char references "S p"."The ""parent""" (c),
    m mood constraint by_enum references "S p"."The ""parent""" (m), v code constraint by_domain references "S p"."The ""parent""" (v),
    nc text ${Number(server.sql("show server_version_num")) >= 180_000 ? "collate nocase" : ""} constraint by_collation references "S p"."The ""parent""" (nc), arr int[] constraint by_array references "S p"."The ""parent""" (arr),
    constraint full_match foreign key (a, c) references "S p"."The ""parent""" (id, c) match full,
    check (a > 0), constraint "odd %I ' name" check (v is null or length(v) > 1));
  insert into child values (1, 'x', 'a', 'one', 'NAME', '{1}'), (2, 'y', null, null, null, null), (null, null, null, null, null, null);
  create table self (id int primary key, up int constraint upwards references self);
  insert into self values (1, null), (2, 1);
  create table parts (id int, d date, primary key (id, d)) partition by range (d);
  create table part_1 partition of parts for values from ('2026-01-01') to ('2027-01-01');
  insert into parts values (1, '2026-05-05');
  create table to_parts (id int, d date, constraint to_parted foreign key (id, d) references parts) partition by list (id);
  create table to_parts_1 partition of to_parts for values in (1);
  insert into to_parts values (1, '2026-05-05');
  create table inheriting () inherits (self);
  insert into inheriting values (9, 77);
`;

test("every kind of foreign key is looked at, compared as PostgreSQL itself compares", async () => {
  make("kinds", kinds());
  expect(await look("kinds")).toEqual({
    foreignKeys: 9,
    validatedByRestore: 0,
    checks: 2,
    broken: [],
    notChecked: [],
  });
  // Whatever a key refers by, a row that refers to none is found.
  make(
    "broken",
    `${kinds()}
    set session_replication_role = replica;
    insert into child values (3, null, null, null, null, null), (null, 'zz', null, null, null, null), (1, 'y', null, null, null, null);
    insert into child (v) values ('three'), ('four');
    insert into child (nc) values ('nobody');
    insert into child (arr) values ('{3}');
    insert into self values (3, 4);
    insert into to_parts values (1, '2026-06-06');
    delete from "S p"."The ""parent""" where m = 'zz';`.replace(
      'delete from "S p"."The ""parent""" where m = \'zz\';',
      "",
    ),
  );
  const found = await look("broken");
  const rows = Object.fromEntries(found?.broken.map(({ name, rows: n }) => [name, Number(n)]) ?? []);
  expect(rows).toEqual({
    "public.child.by_number": 1,
    "public.child.by_char": 1,
    "public.child.by_domain": 2,
    "public.child.by_collation": 1,
    "public.child.by_array": 1,
    "public.child.full_match": 3,
    "public.self.upwards": 1,
    "public.to_parts.to_parted": 1,
  });
  const outcome = constraintsCheck(found ?? { foreignKeys: 0, checks: 0, broken: [], notChecked: [] }, {
    duration_ms: 1,
  });
  expect(outcome).toMatchObject({ result: "failed", observed: { foreign_keys: 9, broken: 11 } });
  expect(outcome.observed["error"]).toContain("public.");
});

test("only what PostgreSQL cannot have let past is not looked at once more", async () => {
  server.sql(`create role ${LOADING_ROLE} login`);
  make(
    "loaded",
    `alter database loaded owner to ${LOADING_ROLE};
    alter schema public owner to ${LOADING_ROLE};
    set role ${LOADING_ROLE};
    create table parent (id int primary key);
    insert into parent values (1), (2), (3);
    create table held (id int constraint held references parent);
    insert into held values (3), (null);
    create table cascaded (id int constraint cascaded references parent on delete cascade);
    create table renamed (id int constraint renamed references parent on update cascade);
    create table unset (id int constraint unset references parent on delete set null);
    insert into cascaded values (1);
    insert into renamed values (2);
    insert into unset values (1);
    create function stop() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger stop before delete or update on cascaded for each row execute function stop();
    create trigger stop before delete or update on renamed for each row execute function stop();
    create trigger stop before delete or update on unset for each row execute function stop();
    delete from parent where id = 1;
    update parent set id = 20 where id = 2;
    drop trigger stop on cascaded;
    drop trigger stop on renamed;
    drop trigger stop on unset;
    create table later (id int);
    insert into later values (7);
    alter table later add constraint later foreign key (id) references parent not valid;
    create table unguarded (id int constraint unguarded references parent);
    create table foreign_owner (id int constraint foreign_owner references parent);
    reset role;
    alter table unguarded disable trigger all;
    insert into unguarded values (8);
    set session_replication_role = replica;
    insert into foreign_owner values (9);
    alter table foreign_owner owner to current_user;
    grant select on foreign_owner to ${LOADING_ROLE};`,
  );
  const found = await look("loaded", 30_000, LOADING_ROLE);
  expect(found).toMatchObject({ foreignKeys: 7, validatedByRestore: 1, notChecked: [] });
  expect(found?.broken.map(({ name, why }) => `${name} ${why}`).toSorted()).toEqual([
    "public.cascaded.cascaded foreign_key",
    "public.foreign_owner.foreign_owner foreign_key",
    "public.later.later not_valid",
    "public.renamed.renamed foreign_key",
    "public.unguarded.unguarded foreign_key",
    "public.unset.unset foreign_key",
  ]);
  // A superuser's rows may have come past any foreign key.
  expect(await look("loaded")).toMatchObject({ foreignKeys: 7, validatedByRestore: 0 });
});

test("code in the dump that breaks a foreign key after the restore added it is found", async () => {
  make(
    "breaks",
    `create table parent (id int primary key);
    insert into parent values (1), (2);
    create table child (id int constraint child_of references parent on delete cascade);
    insert into child values (1), (2);
    create function keep() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger keep before delete on child for each row execute function keep();
    create function break() returns int language plpgsql as $$ begin
      if current_database() <> 'breaks' then
        delete from public.parent where id = 1;
        drop trigger keep on public.child;
      end if;
      return 1;
    end $$;
    create materialized view v as select break();`,
  );
  const tested = await backUpAndTest("breaks");
  expect(tested).toMatchObject({ result: "failed" });
  expect(constraintsOf(tested)).toMatchObject({
    result: "failed",
    observed: { foreign_keys: 1, broken: 1, broken_names: "public.child.child_of (1)" },
  });
});

test("if there is no time, each constraint is named as not looked at", async () => {
  const found = await look("kinds", 0);
  expect(found).toMatchObject({ foreignKeys: 0, checks: 0, broken: [] });
  expect(found?.notChecked).toHaveLength(11);
  expect(found?.notChecked).toContain(`public.child."odd %I ' name"`);
});

test("a restore test looks at foreign keys and check constraints, and passes", async () => {
  const tested = await backUpAndTest("kinds");
  expect(tested).toMatchObject({ result: "passed" });
  expect(constraintsOf(tested)).toMatchObject({
    result: "passed",
    observed: { foreign_keys: 9, validated_by_restore: 6, check_constraints: 2, broken: 0 },
  });
  make("plain", "create table t (x int); insert into t values (1)");
  expect(constraintsOf(await backUpAndTest("plain"))).toBeUndefined();
  const several = await backUpAndTest("kinds", { databases: ["kinds", "plain"] });
  expect(constraintsOf(several, "inferred:foreign_keys:kinds")).toMatchObject({ result: "passed" });
});

test("rows that break a constraint of the source by its own choice fail nothing, and are named", async () => {
  make(
    "chosen",
    `create table parent (id int primary key);
    create table child (id int, price int);
    insert into child values (1, -1), (2, 5);
    alter table child add constraint later foreign key (id) references parent not valid;
    alter table child add constraint no_gifts check (price >= 0) not valid;
    create table small (n int);
    create function is_small(int) returns boolean language sql as 'select count(*) = 0 from public.small';
    create table other (n int constraint depends check (is_small(n)));
    insert into other values (1);
    insert into small values (1);`,
  );
  const tested = await backUpAndTest("chosen");
  expect(tested).toMatchObject({ result: "passed" });
  expect(constraintsOf(tested)).toMatchObject({
    result: "passed",
    observed: { foreign_keys: 1, check_constraints: 2, broken: 0, not_met: 3 },
  });
  const named = constraintsOf(tested)?.observed["not_met_names"];
  for (const each of [
    "public.child.later (2, NOT VALID)",
    "public.child.no_gifts (1, NOT VALID)",
    "public.other.depends (1)",
  ])
    expect(named).toContain(each);
});

test("rows that came into the source past a foreign key are said to be in the dump, not a defect of the backup", async () => {
  make(
    "passed_by",
    `create table parent (id int primary key);
    create table child (id int constraint child_of references parent);
    set session_replication_role = replica;
    insert into child values (1);`,
  );
  const tested = await backUpAndTest("passed_by");
  expect(tested).toMatchObject({ result: "failed" });
  expect(tested.reason).toContain(
    "(SQLSTATE 23503): rows in the dump break the constraint child_of. If the source has such rows too",
  );
});

test("a constraint that runs for ever or raises an error does not end the test, and is named", async () => {
  make(
    "hostile",
    `create table quick (n int primary key);
    insert into quick values (1);
    create table refers (n int references quick);
    insert into refers values (1);
    create table slow (n int);
    create function busy(int) returns boolean language plpgsql as $$ begin
      if current_setting('transaction_read_only') = 'off' then return true; end if; loop end loop; end $$;
    alter table slow add constraint endless check (busy(n));
    insert into slow select generate_series(1, 1000);
    create table loud (n int);
    create function shout(int) returns boolean language plpgsql as $$ begin
      if current_setting('transaction_read_only') = 'off' then return true; end if; raise exception 'no' using errcode = '53100'; end $$;
    alter table loud add constraint raises check (shout(n));
    insert into loud values (1);`,
  );
  const tested = await backUpAndTest("hostile");
  expect(tested).toMatchObject({ result: "passed" });
  expect(constraintsOf(tested)?.observed).toMatchObject({ foreign_keys: 1, broken: 0, not_checked: 2 });
});
