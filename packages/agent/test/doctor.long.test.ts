import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startSourceMariadb, type SourceMariadb } from "./runs/source-mariadb.ts";
import { startSourcePostgres, type SourcePostgres } from "./runs/source-postgres.ts";
import { runCli } from "./service/cli.ts";

let base: string;
let root: string;
let serverDir: string;
let server: SourcePostgres;
let mariadb: SourceMariadb;

beforeAll(async () => {
  serverDir = mkdtempSync(join(tmpdir(), "attestore-doctor-pg-"));
  server = await startSourcePostgres(serverDir);
  mariadb = await startSourceMariadb(serverDir);
});
afterAll(async () => {
  await server.close();
  await mariadb.close();
  rmSync(serverDir, { recursive: true });
});
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-doctor-"));
  root = join(base, "root");
  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  const { code } = await runCli(["init", "--standalone"], { env: { ATTESTORE_HOME: root } });
  expect(code).toBe(0);
  declare(`papers: { engine: files, path: ${join(base, "papers")} }`);
});
afterEach(() => rmSync(base, { recursive: true }));

function declare(sources: string): void {
  const file = join(root, "config.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8").split("\nsources:")[0]}\nsources:\n  ${sources}\n`);
}

interface Finding {
  title: string;
  result: string;
  detail: string;
  next: string | null;
}

async function doctor(code: number, env: Record<string, string> = {}): Promise<Map<string, Finding>> {
  const done = await runCli(["doctor", "--json"], { env: { ATTESTORE_HOME: root, ...env } });
  expect(done.code, done.stdout + done.stderr).toBe(code);
  const { findings } = JSON.parse(done.stdout) as { findings: Finding[] };
  return new Map(findings.map((finding) => [finding.title, finding]));
}

it("doctor finds no fault with a sound standalone root", async () => {
  const found = await doctor(0);
  expect([...found.values()].filter(({ result }) => result === "bad")).toEqual([]);
  expect(found.get("storage")).toMatchObject({ result: "good" });
  expect(found.get("recovery kit")).toMatchObject({ result: "warn", next: "attestore keys recovery-kit" });
  const exported = await runCli(["keys", "export", "--json"], { env: { ATTESTORE_HOME: root } });
  expect(JSON.parse(exported.stdout)).toMatchObject({ key_fingerprint: found.get("signing key")?.detail });
  for (const title of ["attachment", "service", "agent"]) expect(found.has(title), title).toBe(false);
});

it.each(["", "config.yaml"])("a root whose %s everybody may write to is no good root", async (name) => {
  const file = join(root, name);
  chmodSync(file, 0o702);
  const told = { result: "bad", detail: expect.stringContaining(file) as string };
  expect((await doctor(1)).get("root")).toMatchObject(told);
  execFileSync("sh", ["-c", (await doctor(1)).get("root")?.next ?? "exit 1"]);
  expect((await doctor(0)).get("root")).toMatchObject({ result: "good" });
});

it("with a config.yaml that cannot be read, doctor misses no token of a service", async () => {
  declare("papers: [");
  const found = await doctor(1);
  expect(found.get("config.yaml")).toMatchObject({ result: "bad" });
  expect(found.get("keys")).toMatchObject({ result: "good" });
});

it("doctor says whether the recovery kit was tested", async () => {
  const cli = (args: string[]) => runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });
  await cli(["keys", "recovery-kit", "--output", join(base, "kit.txt")]);
  expect((await doctor(0)).get("recovery kit")).toMatchObject({
    result: "warn",
    detail: expect.stringContaining("never tested"),
  });
  const [key = ""] = /AGE-SECRET-KEY-1[A-Z0-9]+/.exec(readFileSync(join(base, "kit.txt"), "utf8")) ?? [];
  writeFileSync(join(base, "kit.key"), key);
  expect((await cli(["keys", "recovery-kit", "--test", "--identity", join(base, "kit.key")])).code).toBe(0);
  expect((await doctor(0)).get("recovery kit")).toMatchObject({ result: "good" });
});

it("reaches for each source, and compares the programs with the server", async () => {
  declare(`shop: { engine: postgresql, connection: env:SHOP_URL, sandbox: { kind: uri, database: env:SCRATCH_URL } }
  desk: { engine: mariadb, connection: env:DESK_URL }
  papers: { engine: files, path: ${join(base, "gone")} }`);
  const DESK_URL = mariadb.url("root", "");
  const found = await doctor(1, { SHOP_URL: server.url(server.environment["PGUSER"] ?? "", ""), DESK_URL });
  expect(found.get("source desk")?.detail).toMatch(
    /^MariaDB \d+\.\S+, dumped by mariadb-dump \d+\.\d+\.\d+$/,
  );
  // initdb of PostgreSQL 15 makes a cluster without checksums.
  expect(found.get("source shop")).toMatchObject({
    result: "warn",
    detail: expect.stringMatching(
      /^PostgreSQL \d+\.\d+, dumped by pg_dump \d+\.\d+; the server has no data checksums: /,
    ),
    next: expect.stringContaining("pg_checksums --enable"),
  });
  expect(found.get("sandbox of shop")).toMatchObject({
    result: "good",
    detail: "uri: the required version is known after the first backup",
  });
  expect(found.get("source papers")).toMatchObject({
    result: "bad",
    detail: expect.stringContaining("gone does not exist"),
  });
  const away = await doctor(1, { SHOP_URL: "postgresql://u:hunter2@localhost:1/x", DESK_URL });
  expect(away.get("source shop")).toMatchObject({ result: "bad" });
  expect(JSON.stringify([...away])).not.toContain("hunter2");
});

it("doctor does not warn of a PostgreSQL with data checksums", async () => {
  const data = join(base, "with-checksums");
  const programs = { ...process.env, PATH: `${server.bin}:${process.env["PATH"]}` };
  const asPostgres = (command: string): string =>
    execFileSync(
      "setpriv",
      ["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh", "-euc", command],
      {
        env: programs,
        encoding: "utf8",
      },
    );
  chmodSync(base, 0o755);
  mkdirSync(data);
  execFileSync("chown", ["postgres", data]);
  asPostgres(`initdb --data-checksums --no-sync -A trust -U postgres -D ${data}/db`);
  asPostgres(
    `pg_ctl -w -D ${data}/db -l ${data}/log -o "-c listen_addresses= -c fsync=off -k ${data}" start`,
  );
  try {
    declare("shop: { engine: postgresql, connection: env:SHOP_URL }");
    const SHOP_URL = `postgresql://postgres@/postgres?host=${encodeURIComponent(data)}`;
    expect((await doctor(0, { SHOP_URL })).get("source shop")).toMatchObject({ result: "good", next: null });
  } finally {
    asPostgres(`pg_ctl -m immediate -D ${data}/db stop`);
  }
});

it("doctor finds storage that can't be written", async () => {
  writeFileSync(join(base, "file"), "");
  const file = join(root, "config.yaml");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(
      "standalone:",
      `standalone:\n  storage: { path: ${join(base, "file")} }`,
    ),
  );
  expect((await doctor(1)).get("storage")).toMatchObject({ result: "bad" });
});

it("doctor removes the leftovers of a killed run, and nothing of a live run", async () => {
  const tag = execFileSync(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { ownProcessTag } from ${JSON.stringify(new URL("../src/processes/process-tag.ts", import.meta.url).href)}; console.log(ownProcessTag())`,
    ],
    { encoding: "utf8" },
  ).trim();
  mkdirSync(join(root, "scratch", `attestore-${tag}-00000000`));
  const { ownProcessTag } = await import("../src/processes/process-tag.ts");
  const living = `attestore-${ownProcessTag()}-00000000`;
  mkdirSync(join(root, "scratch", living));
  const found = (await doctor(0)).get("sandboxes");
  expect(found).toMatchObject({ result: "warn", detail: expect.stringContaining(tag) });
  expect(readdirSync(join(root, "scratch"))).toEqual([living]);
});

it("doctor accepts an identity in a systemd credential, which only the unit can read", async () => {
  const credentials = join(base, "credentials");
  mkdirSync(credentials, { mode: 0o700 });
  copyFileSync(join(root, "keys/age.key"), join(credentials, "age-identity"));
  // As systemd hands them out.
  chmodSync(join(credentials, "age-identity"), 0o440);
  rmSync(join(root, "keys/age.key"));
  const file = join(root, "config.yaml");
  const config = readFileSync(file, "utf8");
  writeFileSync(file, config.replace(/identity_files: .*/, "identity_files: [credential:age-identity]"));
  const unit = { CREDENTIALS_DIRECTORY: credentials };
  expect((await doctor(0, unit)).get("keys")).toMatchObject({ result: "good" });
  expect((await doctor(0)).get("keys")).toMatchObject({ result: "warn" });
  const env = { ATTESTORE_HOME: root, ...unit };
  expect((await runCli(["backup"], { env })).code).toBe(0);
  expect((await runCli(["restore-test"], { env })).code).toBe(0);
  // A rotation puts the new one beside it, and leaves the reference what it is.
  expect((await runCli(["keys", "rotate", "encryption", "--yes"], { env })).code).toBe(0);
  expect(readFileSync(file, "utf8")).toMatch(
    /identity_files: \[ ?keys\/age-[^,]+, credential:age-identity ?\]/,
  );
  writeFileSync(file, config.replace(/identity_files: .*/, "identity_files: [credential:../x]"));
  expect((await doctor(1)).get("config.yaml")?.detail).toContain("systemd credential");
});
