import { expect, test } from "vitest";
import { globalsInDump } from "./globals-in-dump.ts";

const found = (sql: string) =>
  globalsInDump(sql).map(({ kind, name, definition }) => [kind, name, JSON.parse(definition) as unknown]);

/** As pg_dumpall 15 writes it, and the last membership as pg_dumpall 16 does. */
const DUMP = String.raw`--
-- PostgreSQL database cluster dump
--

\restrict abc

SET default_transaction_read_only = off;

SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;

CREATE ROLE "Odd ""role""";
ALTER ROLE "Odd ""role""" WITH NOSUPERUSER INHERIT NOCREATEROLE NOCREATEDB NOLOGIN NOREPLICATION NOBYPASSRLS;
COMMENT ON ROLE "Odd ""role""" IS E'it''s C:\\here';
SECURITY LABEL FOR mac ON ROLE "Odd ""role""" IS 'top';
CREATE ROLE seller;
ALTER ROLE seller WITH SUPERUSER NOINHERIT CREATEROLE CREATEDB LOGIN REPLICATION BYPASSRLS CONNECTION LIMIT 5 PASSWORD 'SCRAM-SHA-256$4096:x=$y=:z=' VALID UNTIL '2030-01-01 00:00:00+00';

--
-- User Config "seller"
--

ALTER ROLE seller SET search_path TO 'a', 'B c';
ALTER ROLE seller SET "TimeZone" TO 'UTC';
ALTER ROLE seller SET "my.path" TO E'a\\b';

GRANT seller TO "Odd ""role""" GRANTED BY postgres;
GRANT seller TO buyer WITH ADMIN OPTION GRANTED BY postgres;
GRANT pg_monitor TO buyer WITH ADMIN OPTION, INHERIT FALSE, SET FALSE GRANTED BY postgres;

GRANT ALL ON PARAMETER work_mem TO seller WITH GRANT OPTION;
GRANT ALTER SYSTEM ON PARAMETER "my.path" TO PUBLIC;

CREATE TABLESPACE fast OWNER seller LOCATION '/srv/fast';
ALTER TABLESPACE fast SET (random_page_cost=1.1, seq_page_cost=1);
GRANT ALL ON TABLESPACE fast TO buyer;
COMMENT ON TABLESPACE fast IS 'of the new disks';

\unrestrict abc
`;

const NONE = ["false", "true", "false", "false", "false", "false", "false"];
const ALL = ["true", "false", "true", "true", "true", "true", "true"];

test("what belongs to a whole server is read as pg_dumpall writes it", () => {
  expect(found(DUMP)).toEqual([
    ["role", 'Odd "role"', ['Odd "role"', ...NONE, "-1", ""]],
    ["comment", 'role Odd "role"', ["ROLE", 'Odd "role"', "it's C:\\here"]],
    ["security_label", 'mac role Odd "role"', ["mac", "ROLE", 'Odd "role"', "top"]],
    ["role", "seller", ["seller", ...ALL, "5", "2030-01-01 00:00:00+00"]],
    ["role_password", "seller", ["seller", "SCRAM-SHA-256$4096:x=$y=:z="]],
    ["role_setting", "seller search_path", ["seller", "search_path", '["a","B c"]']],
    ["role_setting", "seller TimeZone", ["seller", "TimeZone", '["UTC"]']],
    ["role_setting", "seller my.path", ["seller", "my.path", '["a\\\\b"]']],
    ["membership", 'seller to Odd "role"', ["seller", 'Odd "role"', "false", "", "true", "postgres"]],
    ["membership", "seller to buyer", ["seller", "buyer", "true", "", "true", "postgres"]],
    ["membership", "pg_monitor to buyer", ["pg_monitor", "buyer", "true", "false", "false", "postgres"]],
    ["grant", "SET on parameter work_mem to seller", ["PARAMETER", "work_mem", "seller", "SET", "true"]],
    [
      "grant",
      "ALTER SYSTEM on parameter work_mem to seller",
      ["PARAMETER", "work_mem", "seller", "ALTER SYSTEM", "true"],
    ],
    [
      "grant",
      "ALTER SYSTEM on parameter my.path to PUBLIC",
      ["PARAMETER", "my.path", "PUBLIC", "ALTER SYSTEM", "false"],
    ],
    ["grant", "CREATE on tablespace fast to buyer", ["TABLESPACE", "fast", "buyer", "CREATE", "false"]],
    ["comment", "tablespace fast", ["TABLESPACE", "fast", "of the new disks"]],
    ["tablespace", "fast", ["fast", "seller", "/srv/fast", "random_page_cost = 1.1 , seq_page_cost = 1"]],
  ]);
});

test("no name has a password or a setting's value", () => {
  for (const { name } of globalsInDump(DUMP)) expect(name).not.toMatch(/SCRAM|UTC/);
});

test.each([
  ["statement", "DROP ROLE seller;"],
  ["statement", "ALTER ROLE seller WITH LOGIN SOMETHING;"],
  ["statement", "ALTER ROLE seller WITH LOGIN LOGIN;"],
  ["statement", "ALTER ROLE seller IN DATABASE orders SET work_mem TO '8MB';"],
  ["statement", "ALTER ROLE seller SET work_mem TO E'\\x41';"],
  ["statement", "GRANT seller TO buyer WITH ADMIN MAYBE;"],
  ["statement", "GRANT SELECT ON TABLE t TO buyer;"],
  ["statement", "SET standard_conforming_strings = maybe;"],
  ["statement", "CREATE TABLESPACE fast LOCATION '/srv/fast';"],
  ["statement", "ALTER ROLE seller WITH PASSWORD 'cut off"],
  ["grant", "REVOKE ALL ON TABLESPACE fast FROM seller;"],
  ["grant", "GRANT DROP ON PARAMETER work_mem TO buyer;"],
  ["grant", "SET SESSION AUTHORIZATION buyer;"],
  ["grant", "RESET SESSION AUTHORIZATION;"],
])("what is not understood is an object of the kind %s: %s", (kind, sql) => {
  expect(globalsInDump(`CREATE ROLE seller;\n${sql}\n`)).toMatchObject([{ kind, name: "" }]);
});
