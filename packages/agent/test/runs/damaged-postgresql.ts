import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { type Resealed, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

const ROWS = "select i, 'note ' || i from generate_series(1, 100) i";
export const SCHEMA = `
  create extension pg_trgm;
  create table steady (id int primary key, note text); insert into steady ${ROWS};
  create table halved (id int primary key, note text); insert into halved ${ROWS};
  create table emptied (id int primary key, note text); insert into emptied ${ROWS};
  create table dropped (id int primary key, note text); insert into dropped ${ROWS};
  create table changed (id int, note text); insert into changed ${ROWS};
  create table narrowed (id bigint, note text); insert into narrowed ${ROWS};
  create table lines (id serial, of_steady int constraint of_steady references steady, n int constraint positive check (n > 0));
  insert into lines (of_steady, n) select i, i from generate_series(1, 100) i;
  create index by_n on lines (n);
  create function twice(int) returns int language sql as 'select 2 * $1';
  create function touch() returns trigger language plpgsql as 'begin return new; end';
  create trigger touched before update on lines for each row execute function touch();
  create view few as select * from lines limit 5;
  create policy own on lines using (n > 0);
  create rule kept as on delete to few do instead nothing;
  comment on table lines is 'of orders';
  select lo_from_bytea(4711, 'large');
`;

/** Rows of docs/damage.md whose cases are in damage-postgresql-earlier-tests.long.test.ts. */
export const EARLIER: ReadonlySet<string> = new Set([
  "45 % of a table's rows deleted, and again after a test passed",
  "the 24th of many small tables emptied",
  "every value of a column set to NULL",
  "a column overwritten by what ransomware writes",
]);

/** Rows of docs/damage.md whose cases are in damage-postgresql-lost-objects.long.test.ts. */
export const LOST_OR_ODD: ReadonlySet<string> = new Set([
  "a trigger, function, view, policy, rule, type or grant of several lost at the source",
  "a trigger disabled, row level security turned off, or another definition of a function, policy or rule at the source",
  "most grants revoked at the source",
  "an event trigger at the source",
  "an index made with a function that is declared immutable and is not",
  "an index made with a function of the time that is declared immutable",
]);

/** What other engines do not have. The test of another order leaves it as it is. */
export const MORE = `
  create type mood as enum ('a', 'b', 'c');
  create domain positive_n as int constraint above check (value > 0);
  create collation german (provider = icu, locale = 'de-DE');
    create table moods (m mood, n positive_n);
  alter table lines enable row level security;
  grant select on steady to pg_monitor; grant update (note) on steady to pg_read_all_stats;
  alter table changed owner to pg_monitor; revoke execute on function twice(int) from public;
  alter default privileges in schema public grant select on tables to pg_monitor;
  create publication sends for table lines;
  create function told() returns event_trigger language plpgsql as 'begin end';
  create event trigger at_end on ddl_command_end execute function told();
  create statistics of_lines on of_steady, n from lines;
    create table parts (d date) partition by range (d);
    create table parts_1 partition of parts for values from ('2026-01-01') to ('2027-01-01');
  create index parts_at on parts (d);
  create trigger of_parts before insert on parts for each row execute function touch(); alter table parts_1 disable trigger of_parts;
    create table computed (a int, twice int generated always as (a * 2) stored, b int); insert into computed (a, b) values (1, 2);
    create table spread (k int, x text, y text) partition by range (k);
  create sequence unused; select setval('unused', 500, false);
  create type names as range (subtype = text, subtype_opclass = text_pattern_ops);
  create aggregate added(int) (sfunc = int4pl, stype = int, sspace = 100);
  create index by_sum on lines ((n + id)); alter index by_sum alter column 1 set statistics 400;
  create conversion narrower for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1; create conversion wider for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8;
  create extension postgres_fdw; create server away foreign data wrapper postgres_fdw options (port '5432', host '192.0.2.1');
  create table parent (a int, b text); create table heir (a int, c text) inherits (parent);
  alter function told() depends on extension postgres_fdw;
  create materialized view counted as select count(*) as n, 'x'::text as v from lines;
  create user mapping for pg_monitor server away options (user 'u', password 'never-to-be-seen'); create user mapping for public server away;
    create foreign table there (a int, b text) server away;
    create table letters (id int primary key, mail text, note text);
  insert into letters select i, 'customer' || i || '@example.com', 'please leave parcel number ' || i || ' with the neighbours, thanks' from generate_series(1, 2000) i;
  do $$ begin for i in 1..30 loop
    execute format('create table small_%s (id int)', i); execute format('insert into small_%s select generate_series(1, 20)', i);
  end loop; end $$;
`;

/** What is done to a copy, its row in docs/damage.md, and what a receipt calls it. */
export type Damage = readonly [what: string, sql: string, names: string];

/** A server with the database shop, which is damaged, and staging, which is another. */
export interface DamagedSource {
  server: SourcePostgres;
  back: (database?: string) => Promise<MadeBackup>;
  test(made: MadeBackup, instead?: Resealed, seen?: EarlierTests): Promise<RestoreTestResult>;
  /**
   * Does something with a copy of the source in which `sql` was run, and whose files `ruin` changed
   * before.
   */
  damaged<T>(sql: string, use: (name: string) => Promise<T>, ruin?: () => void): Promise<T>;
  dumpOf(database: string): Buffer;
}

export async function startDamagedSource(place: TestPlace): Promise<DamagedSource> {
  const server = await startSourcePostgres(place.dir);
  server.sql(`
    create database shop template template0;
    \\connect shop
    ${SCHEMA}
    ${MORE}
    create database staging template template0;
    \\connect staging
    create table steady (id int primary key, mail text); insert into steady ${ROWS};
    create table guests (id int); insert into guests values (1);`);
  // Before PostgreSQL 15 there is no other way.
  const asFiles = Number(server.sql("show server_version_num")) < 150_000 ? "" : " strategy file_copy";
  return {
    server,
    back: (database = "shop") =>
      backUp(place, {
        ...server.source,
        connection: { kind: "url", url: server.url(server.environment["PGUSER"] ?? "", "", database) },
      }),
    test: (made, instead = made, seen) => testBackup(place, server.source, made, { instead, seen }),
    damaged: async (sql, use, ruin = () => undefined) => {
      server.sql(`checkpoint; create database damaged template shop${asFiles}`);
      try {
        ruin();
        server.sql(`\\connect damaged\n${sql}`);
        return await use("damaged");
      } finally {
        server.sql("drop database damaged");
      }
    },
    dumpOf: (database) =>
      execFileSync(join(server.bin, "pg_dump"), ["--format=custom", "--compress=0", database], {
        env: { ...process.env, ...server.environment, PGTZ: "UTC" },
        maxBuffer: 64 << 20,
      }),
  };
}
