import { expect, test } from "vitest";
import { globalStatements } from "./global-statements.ts";

const taken = (text: string): string[] => [...globalStatements(`${text}\n`)];

test("the statements that pg_dumpall writes about roles are accepted", () => {
  for (const statement of [
    "CREATE ROLE seller",
    'CREATE ROLE "Odd ""role"""',
    'CREATE ROLE "CORP\\alice"',
    "ALTER ROLE seller WITH NOSUPERUSER INHERIT NOCREATEROLE NOCREATEDB LOGIN NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 5 PASSWORD 'SCRAM-SHA-256$4096:x=$y=:z=' VALID UNTIL '2030-01-01 00:00:00+00'",
    "ALTER ROLE seller SET work_mem TO '8MB'",
    "ALTER ROLE seller IN DATABASE orders SET search_path TO 'a', 'b''c'",
    "COMMENT ON ROLE seller IS 'of\ntwo lines'",
    'GRANT seller TO "Odd role" GRANTED BY postgres',
    "GRANT seller TO buyer WITH ADMIN OPTION, INHERIT TRUE GRANTED BY postgres",
    "GRANT attestore TO seller",
    "ALTER ROLE seller SET \"TimeZone\" TO 'UTC'",
    `ALTER ROLE seller SET "my.path2" TO E'C:\\\\here'`,
  ])
    expect(taken(`--\n-- Roles\n--\n\n${statement};`)).toEqual([statement]);
});

test.each([
  "COPY told FROM PROGRAM 'id';",
  "CREATE ROLE seller; COPY told FROM PROGRAM 'id';",
  "ALTER ROLE seller WITH LOGIN; COPY told FROM PROGRAM 'id';",
  "ALTER ROLE seller SET work_mem TO '8MB' || current_user;",
  "ALTER ROLE seller SET work_mem FROM CURRENT;",
  "ALTER ROLE ALL SET session_preload_libraries TO 'mine';",
  "ALTER ROLE attestore SET session_preload_libraries TO 'mine';",
  'ALTER ROLE "attestore_load" WITH SUPERUSER;',
  "ALTER ROLE attestore_load WITH SUPERUSER;",
  "CREATE ROLE attestore_load;",
  "GRANT pg_execute_server_program TO attestore_load;",
  "GRANT pg_execute_server_program TO PUBLIC;",
  'GRANT seller TO "attestore_load" GRANTED BY postgres;',
  "GRANT ALTER SYSTEM ON PARAMETER archive_command TO PUBLIC;",
  "CREATE TABLESPACE mine LOCATION '/tmp';",
  "ALTER SYSTEM SET archive_command TO 'id';",
  "DO $$ begin end $$;",
  "\\! id",
  "COMMENT ON ROLE seller IS 'a\\';",
  "COMMENT ON ROLE seller IS E'a\\';",
  "COMMENT ON ROLE seller IS E'\u0081\\\\';",
])("nothing else is: %s", (text) => {
  expect(taken(text)).toEqual([]);
});
