import { expect, test } from "vitest";
import { readMigrations } from "./migrate.ts";
import { splitStatements } from "./split-statements.ts";

test.each<[what: string, sql: string, statements: string[]]>([
  ["nothing", "-- no statement\n", []],
  [
    "statements and comments",
    "select 1; -- one; two\nselect 2;/* ; */ select 3",
    ["select 1", "select 2", "select 3"],
  ],
  ["texts and names", `select 'a;''b;', ";" ; select 2`, [`select 'a;''b;', ";"`, "select 2"]],
  ["a comment's sign within a text", "select '--'; select 2", ["select '--'", "select 2"]],
  ["bodies", "do $$ begin; end $$; do $a$ $$;$$ $a$;", ["do $$ begin; end $$", "do $a$ $$;$$ $a$"]],
  ["numbers of values", "select $1; select $2", ["select $1", "select $2"]],
  [
    "a body in SQL",
    "create function f() returns int begin atomic select 1; select 2; end; select 3",
    ["create function f() returns int begin atomic select 1; select 2; end", "select 3"],
  ],
])("%s of a migration are told apart", (_what, sql, statements) => {
  expect(splitStatements(sql)).toEqual(statements);
});

/** With what a statement of a migration begins. */
const BEGINNING =
  /^(?:alter|analyze|create|delete|do|drop|grant|insert|lock|revoke|select|set local|update|with) /;

test("every migration consists of statements", async () => {
  for (const { name, sql } of await readMigrations()) {
    const statements = splitStatements(sql);
    expect(statements.length, name).toBeGreaterThan(0);
    for (const statement of statements) expect(statement, name).toMatch(BEGINNING);
  }
});
