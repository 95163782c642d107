import { expect, test } from "vitest";
import { serverWithoutPrograms } from "../../../../test/runs/server-without-programs.ts";
import { RestoreRefused } from "../../engine.ts";
import { missingOnServer } from "./missing-on-server.ts";
import { refusalOf } from "./refusal.ts";

const DATABASE = serverWithoutPrograms("uri");

const refusal = (stderr: string) => refusalOf({ code: 1, signal: null, stderr }, DATABASE, undefined);
const query = (error: string, more = ""): string =>
  `pg_restore: error: could not execute query: ERROR:  ${error}\n${more}Command was: CREATE …;\n\n`;
const NO_EXTENSION = 'extension "postgis" is not available';

test.each([
  [query(NO_EXTENSION, 'DETAIL:  Could not open extension control file "…".\n'), "the extension postgis"],
  [query('could not create locale "tlh_KL.utf8": No such file or directory'), "the locale of a collation"],
  [query('permission denied to create extension "pageinspect"'), "it needs the extension pageinspect"],
  [query("permission denied for language c"), "it needs a function in the language c"],
  [query("only superuser can define a leakproof function"), "a superuser to define a leakproof function"],
  [query('extension "timescaledb" must be preloaded'), "it needs timescaledb, which works only if"],
  [query("pg_cron can only be loaded via shared_preload_libraries"), "it needs pg_cron, which works only if"],
  [
    `pg_restore: error: COPY failed for table "r": ERROR:  role "gone" does not exist\nCONTEXT:  COPY r, line 1, column who: "gone"\n`,
    "the name of a role (type regrole) that its server does not have",
  ],
])("what a database of the customer lacks is not blamed on the dump: %j", (stderr, told) => {
  expect(refusal(stderr)).toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringMatching(`^sandbox.database cannot take the dump: `) as string,
  });
  expect(refusal(stderr).message).toContain(told);
});

const COPY = "pg_restore: error: COPY failed for table";

test.each([
  ["raises the error", query(NO_EXTENSION, "CONTEXT:  PL/pgSQL function f() line 1 at RAISE\n")],
  [
    "raises it while rows are loaded",
    `${COPY} "t": ERROR:  ${NO_EXTENSION}\nCONTEXT:  PL/pgSQL function f(integer) line 1 at RAISE\nCOPY t, line 1: "1"\n`,
  ],
  [
    "adds a context of its own",
    query(
      NO_EXTENSION,
      `CONTEXT:  COPY t, line 1: "1"\nCommand was: x\nCONTEXT:  PL/pgSQL function f() line 1 at RAISE\n`,
    ),
  ],
  ["says more than is kept", query(NO_EXTENSION, "x".repeat(16_384)).slice(0, 16_384)],
  [
    "has a table with such a name",
    `${COPY} "t": ERROR:  permission denied to x": ERROR:  null value\nCONTEXT:  COPY t, line 1: "1"\n`,
  ],
  [
    "has one with a line in its name",
    `${COPY} "\npg_restore: error: could not execute query: ERROR:  role "x" does not exist\n": ERROR:  null value\nCONTEXT:  COPY t, line 1: "1"\n`,
  ],
  ["has it in a value", query('invalid input syntax for type integer: "permission denied to x"')],
  ["has it in another value", query('invalid input syntax for type integer: "must be preloaded"')],
])("but a dump that %s has failed", (_, stderr) => {
  expect(refusal(stderr)).toBeInstanceOf(RestoreRefused);
  expect(refusal(stderr).message).toMatch(/^pg_restore failed.*; the log of sandbox\.database says why$/);
});

test.each([
  ["22P02", 'invalid input syntax for type integer: "must be preloaded"'],
  ["42883", "function shared_preload_libraries(integer) does not exist"],
  ["22023", 'invalid value for parameter "x": "role "y" does not exist"'],
])("in a sandbox of our own, an error that quotes the dump is the dump's too: %s %s", (sqlstate, message) => {
  expect(missingOnServer(sqlstate, message)).toBeNull();
});
