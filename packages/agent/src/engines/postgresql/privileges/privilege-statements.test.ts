import { expect, test } from "vitest";
import { privilegeStatements } from "./privilege-statements.ts";

const found = (sql: string) => privilegeStatements(sql)?.statements("the copy");

test("owners and grants are found among everything else, with the roles that they name", () => {
  const sql = `--
-- PostgreSQL database dump, of the customer's (1
--
\\restrict it's random
SET client_encoding = 'UTF8';
CREATE FUNCTION s.f() RETURNS text LANGUAGE sql AS $_$
GRANT ALL ON TABLE s.t TO not_meant;
$_$;
CREATE FUNCTION s.g() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END;
COMMENT ON TABLE s.t IS 'a;
GRANT ALL ON TABLE s.t TO neither;
';
ALTER FUNCTION s.f(a integer, VARIADIC b numeric(5,2)[]) OWNER TO "the ""owner""";
ALTER OPERATOR s.=== (integer, integer) OWNER TO app;
ALTER TABLE s.t ALTER COLUMN a SET STORAGE EXTERNAL;
GRANT SELECT(a),UPDATE(b) ON TABLE s.t TO reader WITH GRANT OPTION;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
SET SESSION AUTHORIZATION grantor;
GRANT SELECT ON TABLE s.t TO last;
RESET SESSION AUTHORIZATION;
ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA s GRANT SELECT ON TABLES TO reader;
`;
  const { statements, roles = [] } = privilegeStatements(sql) ?? {};
  expect(statements?.("the copy")).toEqual([
    'ALTER FUNCTION s . f ( a integer , VARIADIC b numeric ( 5 , 2 ) [ ] ) OWNER TO "the ""owner"""',
    "ALTER OPERATOR s . === ( integer , integer ) OWNER TO app",
    "GRANT SELECT ( a ) , UPDATE ( b ) ON TABLE s . t TO reader WITH GRANT OPTION",
    "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    "SET SESSION AUTHORIZATION grantor; GRANT SELECT ON TABLE s . t TO last; RESET SESSION AUTHORIZATION",
    "ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA s GRANT SELECT ON TABLES TO reader",
  ]);
  expect(roles.toSorted()).toEqual(["app", "grantor", "last", "reader", 'the "owner"']);
});

test("a statement that could run or read something, or raise a privilege, is never among them", () => {
  for (const sql of [
    "GRANT admin TO attestore_load;",
    "ALTER ROLE attestore_load SUPERUSER;",
    "ALTER SYSTEM SET archive_command = 'id';",
    "ALTER DATABASE d OWNER TO app, b;",
    "ALTER DATABASE d OWNER TO f(a);",
    "ALTER DATABASE d SET x TO app;",
    "ALTER TABLE t OWNER TO app, ADD CHECK (f());",
    "ALTER TABLE t ALTER a TYPE int USING f(a) OWNER TO app;",
    "ALTER TABLE t ADD CHECK (f() > 1), OWNER TO app;",
    "ALTER TABLE t ALTER a TYPE int USING f(a), OWNER TO app;",
    "ALTER TABLE t VALIDATE CONSTRAINT c, OWNER TO app;",
    "ALTER FUNCTION f(a) SET x TO b, g(c) OWNER TO app;",
    "ALTER FUNCTION f(a) RENAME TO g OWNER TO app;",
    "ALTER AGGREGATE f(a) || g(b) OWNER TO app;",
    "ALTER OPERATOR = (a) OWNER TO app, b;",
    "ALTER TYPE t ADD VALUE a OWNER TO app;",
    "ALTER FUNCTION f(a int DEFAULT '1') OWNER TO app;",
    "ALTER FUNCTION f($$x$$) OWNER TO app;",
    "ALTER EVENT TRIGGER e OWNER TO app;",
    "ALTER SUBSCRIPTION s OWNER TO app;",
    "ALTER LARGE OBJECT 1 2 OWNER TO app;",
    "ALTER LARGE OBJECT f(1) OWNER TO app;",
    "ALTER LARGE OBJECT 1 OWNER TO app, b;",
    "SET SESSION AUTHORIZATION postgres; COPY t FROM PROGRAM 'id';",
    "SET ROLE postgres; CREATE TABLE t();",
    "DO $$ begin end $$;",
  ])
    expect(found(sql), sql).toEqual([]);
  expect(found("SET SESSION AUTHORIZATION 'x'';drop table t'; GRANT ALL ON TABLE t TO a;")).toEqual([
    "GRANT ALL ON TABLE t TO a",
  ]);
});

test("the owner and the grants of the database are those of the copy's own", () => {
  const sql = `ALTER DATABASE "My shop" OWNER TO "it""s";
ALTER DATABASE "My shop" CONNECTION LIMIT = 5;
REVOKE CONNECT,TEMPORARY ON DATABASE "My shop" FROM PUBLIC;
SET SESSION AUTHORIZATION "to ON DATABASE x TO y";
GRANT CREATE ON DATABASE "My shop" TO "50%" WITH GRANT OPTION;
RESET SESSION AUTHORIZATION;
GRANT SELECT ON TABLE s.database TO app;`;
  expect(found(sql)).toEqual([
    'ALTER DATABASE "the copy" OWNER TO "it""s"',
    'REVOKE CONNECT , TEMPORARY ON DATABASE "the copy" FROM PUBLIC',
    'SET SESSION AUTHORIZATION "to ON DATABASE x TO y"; GRANT CREATE ON DATABASE "the copy" TO "50%" WITH GRANT OPTION; RESET SESSION AUTHORIZATION',
    "GRANT SELECT ON TABLE s . database TO app",
  ]);
  expect(privilegeStatements(sql)?.roles.toSorted()).toEqual(["50%", "app", 'it"s', "to ON DATABASE x TO y"]);
});

test("owners and grants of large objects are found, unless there are too many", () => {
  const one = "ALTER LARGE OBJECT 4711 OWNER TO app;\nGRANT SELECT ON LARGE OBJECT 4711 TO reader;\n";
  expect(found(one)).toEqual([
    "ALTER LARGE OBJECT 4711 OWNER TO app",
    "GRANT SELECT ON LARGE OBJECT 4711 TO reader",
  ]);
  const many = Array.from({ length: 5_001 }, (_, n) => `ALTER LARGE OBJECT ${n + 1} OWNER TO app;\n`).join(
    "",
  );
  expect(found(`${many}GRANT ALL ON TABLE s.t TO a;`)).toEqual(["GRANT ALL ON TABLE s . t TO a"]);
});

test("of SQL that cannot be read, or was cut off, nothing is known", () => {
  expect(found("GRANT ALL ON TABLE t TO a; COMMENT ON TABLE t IS 'no end")).toBeUndefined();
  expect(found("GRANT ALL ON TABLE t TO a; CREATE FUNCTION f() AS $_$ no end")).toBeUndefined();
});
