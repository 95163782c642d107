import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-keys-"));
  root = join(base, "root");
  mkdirSync(at("papers"));
  writeFileSync(at("papers/one.txt"), "one\n");
  await json(["init", "--standalone"]);
  const file = join(root, "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}\nsources: { papers: { engine: files, path: ${at("papers")} } } # ours\n`,
  );
});
afterEach(() => rmSync(base, { recursive: true }));

const at = (...path: string[]): string => join(base, ...path);
const cli = (args: string[], stdin?: string): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base, ...(stdin === undefined ? {} : { stdin }) });

async function json<T = Record<string, unknown>>(args: string[], code = 0, stdin?: string): Promise<T> {
  const done = await cli([...args, "--json"], stdin);
  expect(done.code, `${args.join(" ")}\n${done.stdout}${done.stderr}`).toBe(code);
  return JSON.parse(done.stdout) as T;
}

interface Advice {
  readonly advice: { readonly what: string; readonly next: string }[];
}

function storedBackup(): string {
  const directory = join(root, "blobs/stored/papers");
  const newest = readdirSync(directory).toSorted().at(-1) ?? "";
  return join(directory, newest);
}

const filesIn = (archive: Buffer): string =>
  execFileSync("sh", ["-c", "zstd -dc | tar -t"], { input: archive }).toString();

it("makes a kit that age reads backups with, and asks for it until it has been tested", async () => {
  expect((await json<Advice>(["status"], 1)).advice).toMatchObject([{ next: "attestore keys recovery-kit" }]);
  const { recipient } = await json<{ recipient: string }>(["keys", "recovery-kit", "--output", "kit.txt"]);
  expect(statSync(at("kit.txt")).mode & 0o777).toBe(0o600);
  const config = readFileSync(join(root, "config.yaml"), "utf8");
  expect(config).toContain(recipient);
  expect(config).toContain("# ours");
  expect(execFileSync("grep", ["-rlF", "AGE-SECRET-KEY-1", root]).toString().trim()).toBe(
    join(root, "keys/age.key"),
  );
  expect((await json<Advice>(["status"], 1)).advice[0]?.what).toContain("never tested");

  const kit = readFileSync(at("kit.txt"), "utf8");
  const [key = ""] = /AGE-SECRET-KEY-1[A-Z0-9]+/.exec(kit) ?? [];
  expect(kit).toContain("papers (files)");
  await json(["backup"]);
  writeFileSync(at("age.key"), `${key}\n`);
  expect(filesIn(execFileSync("age", ["-d", "-i", at("age.key"), storedBackup()]))).toContain("one.txt");

  // Typed in lower case and with blanks, as from paper; then with a slip; then another key.
  const typed = key.toLowerCase().replaceAll(/(.{8})/g, "$1 ");
  const asked = ["keys", "recovery-kit", "--test", "--identity", "-"];
  expect(await json([...asked, "--file", storedBackup()], 0, `${typed}\n`)).toMatchObject({
    result: "passed",
  });
  expect((await json<Advice>(["status"], 1)).advice).toEqual([]);
  const slip = key.replace(/.$/, key.endsWith("Q") ? "P" : "Q");
  const refused = await cli(asked, slip);
  expect(refused.code).toBe(2);
  expect(refused.stderr + refused.stdout).not.toContain(slip);
  const other = readFileSync(join(root, "keys/age.key"), "utf8");
  expect(await json(asked, 1, other)).toMatchObject({ result: "failed" });

  expect(await json(["keys", "recovery-kit", "--output", "again.html"], 2)).toMatchObject({ error: "usage" });
  await json(["keys", "recovery-kit", "--output", "again.html", "--yes"]);
  expect(readFileSync(at("again.html"), "utf8")).toMatch(/AGE-SECRET-KEY-1[A-Z0-9]{58}/);
  expect(readFileSync(join(root, "config.yaml"), "utf8")).not.toContain(recipient);
});

it("splits the key among people; the page's own commands put it together, and so does the test", async () => {
  mkdirSync(at("safe"));
  const made = await json<{ files: string[] }>([
    "keys",
    "recovery-kit",
    "--output",
    "safe/share.txt",
    "--shares",
    "4",
    "--threshold",
    "3",
  ]);
  expect(made.files).toHaveLength(4);
  const pages = made.files.map((file) => readFileSync(file, "utf8"));
  expect(pages.join()).not.toContain("AGE-SECRET-KEY-1Q");
  await json(["backup"]);

  const [, recipe = ""] = /^( {4}for file in[\s\S]*?gfcombine.*)$/m.exec(pages[0] ?? "") ?? [];
  rmSync(at("safe/share-2.txt"));
  execFileSync("sh", ["-euc", recipe], { cwd: at("safe") });
  expect(filesIn(execFileSync("age", ["-d", "-i", at("safe/age.key"), storedBackup()]))).toContain("one.txt");

  const share = (...numbers: number[]): string => numbers.map((n) => at(`safe/share-${n}.txt`)).join(",");
  const asked = ["keys", "recovery-kit", "--test", "--share"];
  expect(await json([...asked, share(1, 3, 4)])).toMatchObject({ result: "passed" });
  expect(await json([...asked, share(1, 3)], 2)).toMatchObject({ error: "usage" });
  const page = readFileSync(at("safe/share-3.txt"), "utf8");
  writeFileSync(at("safe/share-3.txt"), page.replace(/~[0-9a-f]{4}/, "~0000"));
  expect((await cli([...asked, share(1, 3, 4)])).stderr).toContain("line 1 of share 3");
});

it("backs up with a recipient alone, and tests once the identity is there", async () => {
  await json(["keys", "export", "--secret", "--output", "moved.key"]);
  expect(statSync(at("moved.key")).mode & 0o777).toBe(0o600);
  rmSync(join(root, "keys/age.key"));
  const file = join(root, "config.yaml");
  const config = readFileSync(file, "utf8");
  writeFileSync(file, config.replace(/identity_files: .*/, "identity_files: []"));
  await json(["backup"]);
  expect(await json(["restore-test"], 2)).toMatchObject({ error: "identity_missing" });
  writeFileSync(file, config.replace(/identity_files: .*/, `identity_files: [${at("moved.key")}]`));
  expect(await json(["restore-test"])).toMatchObject({ result: "passed" });
  const shown = await json<Record<string, unknown>>(["keys", "export"]);
  expect(shown).toMatchObject({ recipients: [expect.stringMatching(/^age1/)], log_verifier_key: null });
});
