import { expect, test } from "vitest";
import { serverWithoutPrograms } from "../../../../test/runs/server-without-programs.ts";
import { RestoreRefused } from "../../engine.ts";
import { refusalOf } from "./refusal.ts";

const SERVER = serverWithoutPrograms("process");

test.each([
  [
    "0A000",
    'extension "postgis" is not available',
    "lacks a feature that the dump needs at EXTENSION - postgis (SQLSTATE 0A000): use the source's version, with its extensions and locales",
  ],
  [
    "53200",
    "out of shared memory",
    "lacks memory or another resource that the restore needs at EXTENSION - postgis (SQLSTATE 53200): give it more",
  ],
])(
  "an archive that ends with SQLSTATE %s could not be tested, and the message says what helps",
  (sqlstate, error, told) => {
    const stderr = `pg_restore: while PROCESSING TOC:
pg_restore: from TOC entry 2; 3079 16385 EXTENSION - postgis postgres
pg_restore: error: could not execute query: ERROR:  ${error}
`;
    const refusal = refusalOf({ code: 1, signal: null, stderr }, SERVER, sqlstate);
    expect(refusal).toMatchObject({ code: "sandbox_lacks", message: `the scratch PostgreSQL ${told}` });
  },
);

test.each([
  ["0A000", 'extension "postgis" is not available', "EXTENSION - postgis"],
  ["22023", 'could not create locale "tlh_KL.utf8": No such file or directory', "a COLLATION"],
])(
  "so could one from a pg_restore that does not name the entry, as those from 15 on do not (%s)",
  (sqlstate, error, what) => {
    const stderr = `pg_restore: error: could not execute query: ERROR:  ${error}\n`;
    const refusal = refusalOf({ code: 1, signal: null, stderr }, SERVER, sqlstate);
    expect(refusal).toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining(`needs at ${what} (SQLSTATE ${sqlstate})`) as string,
    });
    // Code in the dump may raise an error with any text.
    expect(refusalOf({ code: 1, signal: null, stderr }, SERVER, "P0001")).toBeInstanceOf(RestoreRefused);
  },
);

test("a dump with what only newer releases keep could not be tested, and the message says what helps", () => {
  const stderr = `pg_restore: from TOC entry 2; 1259 16385 TABLE orders postgres
pg_restore: error: could not execute query: ERROR:  unrecognized parameter "pg_attver"
Command was: ALTER TABLE ONLY public.orders ALTER COLUMN id SET (pg_attver=22161880);
`;
  const refusal = refusalOf({ code: 1, signal: null, stderr }, SERVER, "22023");
  expect(refusal).toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("back up with the pg_dump of the source's own release") as string,
  });
});

const KILLED = "pg_restore: error: a worker process died unexpectedly\n";

test.each([
  [
    "a worker's own error came first",
    `pg_restore: error: could not open input file "dump/3350.dat"\n${KILLED}`,
  ],
  [
    "two workers wrote theirs at once",
    `pg_restore:pg_restore:  error: error: could not open input file "dump/3350.dat": No such file or directory
could not open input file "dump/3351.dat": No such file or directory
${KILLED}`,
  ],
])("a dump without a table's file is refused: %s", (_, stderr) => {
  const refusal = refusalOf({ code: 1, signal: null, stderr }, SERVER, undefined);
  expect(refusal).toBeInstanceOf(RestoreRefused);
  expect(refusal.message).toContain("pg_restore cannot read the dump");
});

test.each([
  ["nothing", ""],
  ["a warning", "pg_restore: warning: invalid creation date in header\n"],
])("a process that ends with %s before pg_restore misses it was killed", (_, before) => {
  const refusal = refusalOf({ code: 1, signal: null, stderr: before + KILLED }, SERVER, undefined);
  expect(refusal).toMatchObject({
    code: "sandbox_failed",
    message: expect.stringContaining("was killed") as string,
  });
});

test.each([
  ["42501", "only superuser can define a leakproof function", "a superuser to define a leakproof function"],
  ["42501", "something else that nobody may", "more rights at FUNCTION app f()"],
  [
    "42P13",
    "aggregate transition data type cannot be internal",
    "an aggregate whose state is of the type internal",
  ],
])(
  "a dump for which the loading role lacks a right (%s %s) could not be tested, and the message says which",
  (sqlstate, error, told) => {
    const stderr = `pg_restore: while PROCESSING TOC:
pg_restore: from TOC entry 2; 1255 16385 FUNCTION app f() postgres
pg_restore: error: could not execute query: ERROR:  ${error}
`;
    expect(refusalOf({ code: 1, signal: null, stderr }, SERVER, sqlstate)).toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining(`the dump needs ${told} (SQLSTATE ${sqlstate}): `) as string,
    });
  },
);
