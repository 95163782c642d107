import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, inject, it } from "vitest";
import { at, cli, json, root, useInvoicesAndPapers } from "./invoices-and-papers.ts";
import { runCli, startCli } from "./service/cli.ts";

useInvoicesAndPapers();

it("the agent escapes names of tables and sources, so that they can't control the terminal or start a line", async () => {
  const hostile = "x\u001b[2J\u202e\u009bH\n✓ inferred:rows:all  PASSED";
  const database = new DatabaseSync(at("invoices.db"));
  database.exec(`create table "${hostile}" (a int); insert into "${hostile}" values (1)`);
  database.close();
  await json(["backup", "--source", "invoices"]);
  const tested = await cli(["restore-test", "--source", "invoices"]);
  expect(tested.code, tested.stderr).toBe(0);
  expect(tested.stdout).toContain("inferred:rows:x\\u001b[2J\\u202e\\u009bH");
  const unknown = await cli(["backup", "--source", hostile]);
  expect(unknown.code).toBe(2);
  for (const text of [tested.stdout, tested.stderr, unknown.stdout, unknown.stderr]) {
    expect(text).not.toMatch(/[^\n\P{C}]|[\u2028\u2029]/u);
    expect(text).not.toMatch(/^✓ inferred:rows:all/m);
  }
});

it("the exit code is the work's even if nobody reads the output, and 2 if the output cannot be written", async () => {
  await json(["backup", "--source", "papers"]);
  const { process: unread, finished } = startCli(["restore-test", "--source", "papers"], {
    env: { ATTESTORE_HOME: root.layout.root },
  });
  for (const stream of [unread.stdout, unread.stderr]) stream?.destroy();
  expect((await finished).code).toBe(0);
  const program = [process.execPath, inject("programs").attestore, "--version"];
  expect(spawnSync("sh", ["-c", '"$0" "$@" > /dev/full', ...program]).status).toBe(2);
});

it("flags come from the command line, then the environment, then defaults, then the built-in values", async () => {
  const env = (name: string) => ({ env: { ATTESTORE_SOURCE: name } });
  expect(await json(["backup"], 2)).toMatchObject({
    error: "usage",
    message: expect.stringContaining("invoices"),
  });
  expect(await json(["backup"], 2, env("paper"))).toMatchObject({
    message: expect.stringContaining('did you mean "papers"?'),
  });
  expect(await json(["backup"], 0, env("papers"))).toMatchObject({ source: "papers" });
  writeFileSync(
    root.layout.config,
    `${readFileSync(root.layout.config, "utf8")}defaults: { source: papers, json: true }\n`,
  );
  const byDefault = await cli(["backup"]);
  expect(JSON.parse(byDefault.stdout)).toMatchObject({ source: "papers" });
  expect(await json(["backup"], 0, env("invoices"))).toMatchObject({ source: "invoices" });
  expect(await json(["backup", "--source", "papers"], 0, env("invoices"))).toMatchObject({
    source: "papers",
  });
  const plain = await cli(["backup"], { env: { ATTESTORE_JSON: "0" } });
  expect(plain.stdout).toContain("✓ bkp_");
  expect((await cli(["backup"], { env: { ATTESTORE_JSON: "perhaps" } })).code).toBe(2);
});

it("--root and --json may stand before a command's name", async () => {
  const args = ["--root", root.layout.root, "--json"];
  const named = await runCli([...args, "doctor"]);
  expect(JSON.parse(named.stdout)).toMatchObject({ root: root.layout.root });
  const bare = await runCli(args);
  expect(JSON.parse(bare.stdout)).toMatchObject({ sources: [{ source: "invoices" }, { source: "papers" }] });
});

it("help that was asked for ends with 0, and help for a command that does not exist with 2", async () => {
  for (const args of [["help"], ["help", "backup"], ["help", "source", "add"], ["backup", "--help"]]) {
    const { code, stdout, stderr } = await cli(args);
    expect([code, stderr], args.join(" ")).toEqual([0, ""]);
    expect(stdout).toContain("Usage: attestore");
  }
  for (const args of [
    ["help", "backpu"],
    ["help", "source", "ad"],
  ]) {
    const { code, stdout, stderr } = await cli(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/Did you mean "(backup|add)"\?/);
  }
  const group = await cli(["help", "source"]);
  expect(group.stdout).toMatch(/Examples:[^]*attestore source add[^]*Documentation: docs\//);
});

it("the agent names an unknown command's nearest neighbour", async () => {
  const done = await cli(["bakcup"]);
  expect(done.code).toBe(2);
  expect(done.stderr).toContain('Did you mean "backup"?');
});

it("a usage error is printed as JSON with --json", async () => {
  for (const args of [["bogus"], ["receipts", "show"], ["run", "--bogus"], ["backup", "extra"]]) {
    const asked = await cli([...args, "--json"]);
    expect(asked.code).toBe(2);
    expect(JSON.parse(asked.stdout)).toEqual({ error: "usage", message: expect.stringMatching(/\w/) });
    expect(asked.stderr).not.toBe("");
    const byTwin = await cli(args, { env: { ATTESTORE_JSON: "true" } });
    expect(byTwin.stdout).toBe(asked.stdout);
    expect((await cli([...args, "--no-json"])).stdout).toBe("");
  }
  expect((await cli(["--version", "--json"])).stdout).toMatch(/^\d+\.\d+/);
});
