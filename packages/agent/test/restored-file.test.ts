import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";

/** The command that `restore` tells at its end does what a person wants next. */

let base: string;
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-restored-"));
  await done("init", "--standalone");
});
afterAll(() => rmSync(base, { recursive: true }));

async function done(...args: string[]): Promise<Finished> {
  const finished = await runCli(args, { env: { ATTESTORE_HOME: join(base, "root") }, cwd: base });
  expect(finished.code, finished.stderr).toBe(0);
  return finished;
}

async function nextAfterRestore(engine: string, path: string, output: string): Promise<string> {
  await done("source", "add", engine, "--engine", engine, "--path", path, "--yes");
  await done("backup", "--source", engine);
  const { stderr } = await done("restore", "--source", engine, "--output", output);
  return /^Next: (.*?)(?:, and then .*)?$/m.exec(stderr)?.[1] ?? `nothing in ${stderr}`;
}

const run = (command: string): string => execFileSync("sh", ["-c", command], { cwd: base, encoding: "utf8" });

test("a restored directory can be unpacked by the command that restore tells", async () => {
  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  run(await nextAfterRestore("files", join(base, "papers"), "it's back.tar"));
  expect(readFileSync(join(base, "restored/one.txt"), "utf8")).toBe("one\n");
});

test("a restored SQLite database can be checked by the command that restore tells", async () => {
  const database = new DatabaseSync(join(base, "a.db"));
  database.exec("create table t (n integer); insert into t values (1)");
  database.close();
  expect(run(await nextAfterRestore("sqlite", join(base, "a.db"), "back.db"))).toBe("ok\n");
});

test("with --quiet, restore tells no next command", async () => {
  const { stderr } = await done("restore", "--source", "files", "--output", "quiet.tar", "--quiet");
  expect(stderr).toBe("");
});
