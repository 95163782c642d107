/** Runs the commands of docs/recover.md, as they stand there, on backups of every engine. */
import { execFile, execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SourceConfig } from "../../packages/agent/src/root/source-config.ts";
import { makeBackup } from "../../packages/agent/src/runs/make-backup.ts";
import { makeTestPlace, type TestPlace } from "../../packages/agent/test/runs/scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "../../packages/agent/test/runs/source-postgres.ts";

const run = promisify(execFile);
const DOCUMENT = join(import.meta.dirname, "../../docs/recover.md");

let place: TestPlace;
let server: SourcePostgres;
let document = "";

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  document = await readFile(DOCUMENT, "utf8");
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
});

/** The shell commands below a heading, one script for each block. */
function commands(heading: string): string[] {
  const at = document.indexOf(`\n${heading}\n`);
  expect(at, `${heading} is in the document`).toBeGreaterThan(0);
  const section = document.slice(at + heading.length + 1);
  const end = section.search(/\n#{2,3} /);
  const blocks = [...section.slice(0, end === -1 ? undefined : end).matchAll(/```sh\n([^]*?)```/g)].map(
    ([, block = ""]) => block,
  );
  expect(blocks.length, `commands below ${heading}`).toBeGreaterThan(0);
  return blocks;
}

/** A directory with `backup.age` and `age.key`, as whoever follows the document has one. */
async function recovering(
  source: SourceConfig,
): Promise<{ sha256: string; shell: (script: string) => Promise<string> }> {
  const cwd = join(place.dir, source.slug);
  await mkdir(cwd);
  const made = await makeBackup({
    source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    signal: new AbortController().signal,
  });
  await copyFile(made.path, join(cwd, "backup.age"));
  await writeFile(join(cwd, "age.key"), `# public key: ${place.recipient}\n${place.identity}\n`, {
    mode: 0o600,
  });
  const env = { ...process.env, ...server.environment, PGDATABASE: "restored" };
  const shell = async (script: string): Promise<string> => {
    const { stdout } = await run("bash", ["-e", "-o", "pipefail", "-c", script], {
      cwd,
      env,
      maxBuffer: 1 << 26,
    });
    return stdout;
  };
  return { sha256: made.sha256, shell };
}

const common = { sandbox: "process", checkTimeout_s: 30, checks: [] } as const;

test("every block of commands in the document is run here", () => {
  const all = [...document.matchAll(/```sh\n/g)].length;
  const here = [
    "## 1. The ciphertext",
    "## 3. Decrypt and decompress",
    "### PostgreSQL",
    "### SQLite",
    "### Files",
  ].flatMap(commands).length;
  expect(here).toBe(all);
});

describe("by the document alone", () => {
  async function toDump(shell: (script: string) => Promise<string>, sha256: string): Promise<void> {
    const [digest = ""] = commands("## 1. The ciphertext");
    expect(await shell(digest)).toBe(`${sha256}  backup.age\n`);
    for (const block of commands("## 3. Decrypt and decompress")) await shell(block);
  }

  test("PostgreSQL", async () => {
    server.sql(
      "create table orders (id int primary key, note text); insert into orders select i, 'note ' || i from generate_series(1, 1000) i",
    );
    const { sha256, shell } = await recovering({ ...server.source, slug: "pg" });
    await toDump(shell, sha256);
    const [restore = "", look = ""] = commands("### PostgreSQL");
    await shell(restore);
    expect(await shell("psql -XAtc 'select count(*), max(note) from orders' restored")).toBe(
      "1000|note 999\n",
    );
    const looked = await shell(look);
    expect(looked).toContain("TABLE DATA public orders");
    expect(looked).toContain("\n999\tnote 999\n");
  });

  test("SQLite", async () => {
    const path = join(place.dir, "shop.sqlite");
    const database = new DatabaseSync(path);
    database.exec("create table items (name text); insert into items values ('amber'), ('basalt')");
    database.close();
    const { sha256, shell } = await recovering({ ...common, slug: "lite", engine: "sqlite", path });
    await toDump(shell, sha256);
    const [restore = ""] = commands("### SQLite");
    expect(await shell(restore)).toBe("ok\n");
    expect(await shell("sqlite3 restored.sqlite 'select group_concat(name) from items'")).toBe(
      "amber,basalt\n",
    );
  });

  test("files", async () => {
    const path = join(place.dir, "tree");
    await mkdir(join(path, "etc"), { recursive: true });
    await writeFile(join(path, "etc", "hosts"), "127.0.0.1 localhost\n", { mode: 0o640 });
    execFileSync("ln", ["-s", "hosts", join(path, "etc", "link")]);
    execFileSync("truncate", ["-s", "3M", join(path, "sparse")]);
    const { sha256, shell } = await recovering({ ...common, slug: "files", engine: "files", path });
    await toDump(shell, sha256);
    const [restore = "", look = ""] = commands("### Files");
    const looked = await shell(look);
    expect(looked).toContain("./etc/link -> hosts");
    expect(looked).toContain("127.0.0.1 localhost");
    await shell(restore);
    expect(await shell(`diff -r --no-dereference ${path} restored && stat -c %a restored/etc/hosts`)).toBe(
      "640\n",
    );
  });

  test("a ciphertext that was cut leaves no dump to be mistaken for one", async () => {
    const path = join(place.dir, "cut.sqlite");
    const database = new DatabaseSync(path);
    database.exec("create table t (x); insert into t values (randomblob(1000000))");
    database.close();
    const { shell } = await recovering({ ...common, slug: "cut", engine: "sqlite", path });
    await shell("truncate -s -1 backup.age");
    const [decrypt = ""] = commands("## 3. Decrypt and decompress");
    await expect(shell(decrypt)).rejects.toThrow();
    expect(await shell("ls")).not.toMatch(/^dump$/m);
  });
});
