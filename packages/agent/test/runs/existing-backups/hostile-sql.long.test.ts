import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { back, directory, run, source, testIt, useDumpsDirectory } from "./dumps-directory.ts";

useDumpsDirectory();

test("a shell command in SQL never runs, wherever it is", async () => {
  const marker = "/tmp/attestore-plain-was-here";
  run("pg_dump postgres >a.sql");
  const sql = readFileSync(join(directory, "a.sql"), "utf8");
  for (const evil of [
    `${sql}\\! touch ${marker}\n`,
    sql.replace("SET statement_timeout", `\\! touch ${marker}\nSET statement_timeout`),
    sql.replace("CREATE TABLE", `\\unrestrict a\n\\! touch ${marker}\nCREATE TABLE`),
    sql.replace("SET statement_timeout", `select 1 \\! touch ${marker}\n;SET statement_timeout`),
  ]) {
    writeFileSync(join(directory, "a.sql"), evil);
    const tested = await testIt(source(), await back(source()));
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(existsSync(marker)).toBe(false);
  }
});

const BEYOND: readonly [statement: string, named: string][] = [
  ["copy public.told from program 'echo ran'", "COPY from a program"],
  ["copy public.told from '/etc/passwd'", "COPY from a file"],
  ["insert into public.told select pg_read_file('/etc/passwd')", "the function pg_read_file"],
  ["alter system set archive_command = 'echo ran'", "the setting archive_command"],
  ["create extension file_fdw with schema public", "the extension file_fdw"],
  ["create function public.c() returns int language c as 'libc', 'abs'", "a function in the language c"],
  ["set role attestore; copy public.told from program 'echo ran'", "the right to set role"],
  ["alter role attestore_load superuser; copy public.told from program 'echo ran'", ""],
  ["grant pg_execute_server_program to attestore_load; copy public.told from program 'echo ran'", ""],
  ["do $$ begin copy public.told from program 'echo ran'; end $$", "COPY from a program"],
];
test("SQL that needs a superuser could not run, and the message says what needs one", async () => {
  run("pg_dump postgres >whole.sql");
  const sql = readFileSync(join(directory, "whole.sql"), "utf8");
  rmSync(join(directory, "whole.sql"));
  for (const [statement, named] of BEYOND) {
    const told = `create table public.told (what text);\n${statement};\n`;
    writeFileSync(
      join(directory, "a.sql"),
      sql.replace(
        "-- PostgreSQL database dump complete",
        () => `${told}-- PostgreSQL database dump complete`,
      ),
    );
    const tested = testIt(source(), await back(source()));
    await expect(tested, statement).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining(`the dump needs ${named}`),
    });
  }
});

test("code that SQL left in a check's way is not run as a superuser", async () => {
  run("pg_dump postgres >a.sql");
  const sql = readFileSync(join(directory, "a.sql"), "utf8");
  const trap = `create table public.told (what text);
    create function public.trap() returns bigint language plpgsql as $$ begin copy public.told from program 'echo ran'; return 1; end $$;
    create view public.counted as select public.trap() as n;\n`;
  writeFileSync(
    join(directory, "a.sql"),
    sql.replace("-- PostgreSQL database dump complete", () => `${trap}-- PostgreSQL database dump complete`),
  );
  const of = source({
    checks: [
      { id: "trap", query: "select n from counted, orders limit 1", expect: "n = 1" },
      {
        id: "who",
        query: "select count(*) as n from pg_roles, orders where rolname = current_user and rolsuper",
        expect: "n = 0",
      },
    ],
  });
  const tested = await testIt(of, await back(of));
  expect(tested.reason).toContain("check trap failed");
  const [trapped, who] = tested.checks.filter(({ id }) => id === "trap" || id === "who");
  expect(trapped).toMatchObject({ result: "failed" });
  expect(JSON.stringify(trapped)).toMatch(/42501|read-only/);
  expect(who).toMatchObject({ result: "passed" });
});
