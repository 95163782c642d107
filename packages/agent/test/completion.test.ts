import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { COMMANDS } from "../src/cli/commands/commands.ts";
import { FLAGS } from "../src/config/flag-table.ts";
import { runCli } from "./service/cli.ts";

let base: string;
const scripts: Record<string, string> = {};

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-completion-"));
  for (const shell of ["bash", "zsh", "fish"]) {
    scripts[shell] = join(base, shell === "zsh" ? "_attestore" : `attestore.${shell}`);
    const { stdout, code } = await runCli(["completion", shell], { cwd: base, env: { HOME: base } });
    expect(code).toBe(0);
    writeFileSync(scripts[shell] ?? "", stdout);
  }
  // What the script itself calls, in the shells below.
  mkdirSync(join(base, "bin"));
  const program = `exec ${process.execPath} ${inject("programs").attestore} "$@"`;
  writeFileSync(join(base, "bin/attestore"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  writeFileSync(
    join(base, "config.yaml"),
    "sources: { orders: { engine: files, path: /o }, papers: { engine: files, path: /p } }\n",
  );
  writeFileSync(join(base, "a file.age"), "");
});
afterAll(() => rmSync(base, { recursive: true }));

const env = () => ({
  ...process.env,
  PATH: `${join(base, "bin")}:${process.env["PATH"]}`,
  ATTESTORE_HOME: base,
  HOME: base,
});

/** What bash would offer for the last of these words. */
function inBash(...words: string[]): string[] {
  const program = `source ${scripts["bash"]}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _attestore
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const shown = execFileSync("bash", ["--norc", "-c", program, "bash", "attestore", ...words], {
    encoding: "utf8",
    cwd: base,
    env: env(),
  });
  return shown.split("\n").filter((line) => line !== "");
}

it("completion offers commands, flags, sources and files in bash", () => {
  expect(inBash("re")).toEqual(["remote-config", "restore-test", "restore", "receipts"]);
  expect(inBash("source", "")).toEqual(["add", "list", "remove", "confirm"]);
  expect(inBash("source", "remove", "")).toEqual(["orders", "papers"]);
  expect(inBash("backup", "--source", "o")).toEqual(["orders"]);
  expect(inBash("--json", "backup", "--so")).toEqual(["--source"]);
  expect(inBash("--root", "/x", "keys", "ro")).toEqual(["rotate"]);
  expect(inBash("keys", "rotate", "")).toEqual(["encryption", "signing"]);
  expect(inBash("restore", "--file", "a").toSorted()).toEqual([
    "a file.age",
    "attestore.bash",
    "attestore.fish",
  ]);
  expect(inBash("check", "try", "orders", "")).toEqual([]);
  expect(inBash("completion", "z")).toEqual(["zsh"]);
});

it("completion in bash knows every command and every flag of it", () => {
  expect(inBash("").toSorted()).toEqual(
    [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0] ?? "")), "help"].toSorted(),
  );
  for (const { name, flags } of COMMANDS)
    expect(inBash(...name.split(" "), "--").toSorted(), name).toEqual(
      flags.map((flag) => FLAGS[flag].form.replace(/ .*/, "")).toSorted(),
    );
});

it("fish accepts the completion script and completes with it", () => {
  execFileSync("fish", ["--no-execute", scripts["fish"] ?? ""], { env: env() });
  const inFish = (line: string): string[] =>
    execFileSync("fish", ["-N", "-c", `source ${scripts["fish"]}; complete -C '${line}'`], {
      encoding: "utf8",
      cwd: base,
      env: env(),
    })
      .split("\n")
      .map((shown) => shown.split("\t")[0] ?? "")
      .filter((word) => word !== "");
  expect(inFish("attestore res").toSorted()).toEqual(["restore", "restore-test"]);
  expect(inFish("attestore source ").toSorted()).toEqual(["add", "confirm", "list", "remove"]);
  expect(inFish("attestore backup --source ")).toEqual(["orders", "papers"]);
  expect(inFish("attestore backup --so")).toEqual(["--source"]);
  expect(inFish("attestore keys rotate ").toSorted()).toEqual(["encryption", "signing"]);
});

it("zsh and its compinit accept the completion script", () => {
  execFileSync("zsh", ["-n", scripts["zsh"] ?? ""], { env: env() });
  const program = `fpath=(${base} $fpath); autoload -Uz compinit; compinit -u -D; print -- $_comps[attestore]; autoload +X _attestore && print loaded`;
  const shown = execFileSync("zsh", ["-f", "-c", program], { encoding: "utf8", env: env() });
  expect(shown).toContain("_attestore\nloaded");
});

it("completion refuses other shells", async () => {
  expect((await runCli(["completion", "tcsh"], { cwd: base })).code).toBe(2);
});
