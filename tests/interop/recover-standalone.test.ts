import { copyFileSync, cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newHost, type Host } from "../e2e/harness/host.ts";
import { bash } from "./lost-sources.ts";
import { shellBlock } from "./recover-page.ts";

/** docs/recover.md for backups of a root without a service: its receipts and storage differ. */

let host: Host;
let storage: string;

beforeAll(async () => {
  host = newHost();
  storage = join(host.base, "storage");
  bash(host.base, 'sqlite3 kv.db "create table kv (k integer primary key); insert into kv values (7)"');
  mkdirSync(join(host.base, "papers"));
  await must("init", "--standalone", "--storage", storage);
  host.addSources(`  kv: { engine: sqlite, path: ${join(host.base, "kv.db")} }
  papers: { engine: files, path: ${join(host.base, "papers")} }
`);
  await must("backup", "--source", "kv");
  await must("restore-test", "--source", "kv");
  await must("backup", "--source", "papers");
});
afterAll(() => host.remove());

async function must(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await host.run(...args);
  expect(code, `${args.join(" ")}\n${stdout}${stderr}`).toBe(0);
}

/** An empty directory with what the page says to put into it. */
function place(name: string): string {
  const directory = join(host.base, name);
  mkdirSync(directory);
  copyFileSync(join(host.root, "keys/age.key"), join(directory, "age.key"));
  symlinkSync(storage, join(directory, "objects"));
  return directory;
}

it("the page's commands find and restore a backup by its bare receipt", () => {
  const directory = place("with-receipts");
  cpSync(join(host.root, "receipts"), join(directory, "receipts"), { recursive: true });
  const listed = bash(directory, shellBlock("for receipt in receipts/*.json"));
  const lines = listed
    .trim()
    .split("\n")
    .map((line) => line.split("\t"));
  expect(lines.map(([, , , what]) => what)).toEqual(["backup of sqlite", "passed", "backup of files"]);
  expect(lines[1]?.[2]).toBe(lines[0]?.[2]);
  copyFileSync(join(directory, lines[0]?.[4] ?? ""), join(directory, "receipt.json"));
  const steps = ["> payload.json", "find -L objects -name '*.age' -size", "sha256sum --check\n"];
  expect(bash(directory, steps.map(shellBlock).join("\n"))).toContain("backup.age: OK");
  bash(directory, [shellBlock("age --decrypt"), shellBlock("pragma integrity_check")].join("\n"));
  expect(bash(directory, "sqlite3 restored.sqlite 'select k from kv'")).toBe("7\n");
});

it("without a receipt, the page's command lists the storage, newest first, with each source's name", () => {
  const listed = bash(place("without-receipts"), shellBlock("-printf"));
  expect(listed.match(/objects\/\w+\/bkp_\w+\.age/g)?.map((path) => path.split("/")[1])).toEqual([
    "papers",
    "kv",
  ]);
});

it("a root that lost its list of backups says that the storage may have some", async () => {
  const again = newHost();
  try {
    for (const name of ["keys", "config.yaml"])
      cpSync(join(host.root, name), join(again.root, name), { recursive: true });
    const { code, stderr } = await again.run("restore", "--source", "kv", "--output", "kv.dump");
    expect(code).toBe(2);
    expect(stderr).toContain(`${storage} may hold earlier ones`);
    expect(stderr).toContain("--file");
    expect(readdirSync(again.base)).not.toContain("kv.dump");
  } finally {
    again.remove();
  }
});
