import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createShop, MARKER, startDatabaseServer, type DatabaseServer } from "./harness/database.ts";
import { filesUnder } from "./harness/files.ts";
import { attachedHost, type Host } from "./harness/host.ts";
import { sha256Hex } from "./harness/merkle.ts";
import { createOrganisation, type Organisation } from "./harness/organisation.ts";
import { run } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

/** The agent's main job with every engine, as a person does it. */

let server: Server;
let org: Organisation;
let database: DatabaseServer;
let data: string;
let host: Host;

function writeInvoices(path: string): void {
  const invoices = new DatabaseSync(path);
  invoices.exec(`
    create table invoices (number integer primary key, customer text not null, cents integer not null);
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 500)
    insert into invoices select i, '${MARKER} ' || i, 500 + i from n;
  `);
  invoices.close();
}

beforeAll(async () => {
  server = await startServer({ ATTESTORE_HEARTBEAT_INTERVAL_S: "3600" });
  org = await createOrganisation(server);
  database = await startDatabaseServer();
  createShop(database, "shop");
  data = mkdtempSync(join(tmpdir(), "attestore-e2e-data-"));
  writeInvoices(join(data, "invoices.db"));
  mkdirSync(join(data, "uploads", "deep"), { recursive: true });
  writeFileSync(join(data, "uploads", "one.txt"), `${MARKER} one`);
  writeFileSync(join(data, "uploads", "deep", "two words.txt"), `${MARKER} two`);
  host = await attachedHost(org, { SHOP_URL: database.url("shop", "shop", "wordless-secret-1") });
  host.addSources(`  shop:
    engine: postgresql
    connection: env:SHOP_URL
    checks:
      - { id: has-orders, query: "select count(*) as n from orders", expect: "n >= 1000" }
  invoices:
    engine: sqlite
    path: ${join(data, "invoices.db")}
    checks:
      - { id: has-invoices, query: "select count(*) as n, sum(cents) as total from invoices", expect: "n = 500 and total > 0" }
  uploads:
    engine: files
    path: ${join(data, "uploads")}
`);
});
afterAll(async () => {
  host.remove();
  rmSync(data, { recursive: true, force: true });
  await database.stop();
  await server.remove();
});

describe("init", () => {
  it("makes a root whose secrets only its owner can read", () => {
    const mode = (path: string): number => statSync(join(host.root, path)).mode & 0o777;
    for (const directory of ["keys", "blobs", "receipts", "events"]) {
      expect(statSync(join(host.root, directory)).isDirectory(), directory).toBe(true);
    }
    expect(mode("keys/token")).toBe(0o600);
    expect(mode("keys/agent.key")).toBe(0o600);
    expect(mode("keys/age.key")).toBe(0o600);
    expect(mode("keys") & 0o077).toBe(0);
    const config = readFileSync(join(host.root, "config.yaml"), "utf8");
    expect(config).not.toMatch(/ats_|AGE-SECRET-KEY|PRIVATE KEY|atk_/);
    expect(readFileSync(join(host.root, "keys", "log.vkey"), "utf8")).toMatch(/^\S+\+[0-9a-f]{8}\+\S+\s*$/);
    const key = spawnSync("openssl", [
      "pkey",
      "-in",
      join(host.root, "keys", "agent.key"),
      "-noout",
      "-text",
    ]);
    expect(key.status, key.stderr.toString()).toBe(0);
  });

  it("refuses a root that already exists", async () => {
    const before = readFileSync(join(host.root, "keys", "agent.key"));
    const again = await run(
      "attestore",
      ["init", "--service", server.url, "--ca-file", server.caFile, "--name", "again"],
      { ...host.env, ATTESTORE_AUTH_KEY: org.authKey },
    );
    expect(again.code).toBe(2);
    expect(again.stderr).toContain(host.root);
    expect(readFileSync(join(host.root, "keys", "agent.key")).equals(before)).toBe(true);
  });
});

describe.each(["shop", "invoices", "uploads"])("the source %s", (source) => {
  it("is backed up, restored and proven", async () => {
    const before = host.receipts().length;
    const backup = await host.run("backup", "--source", source, "--json");
    expect(backup.code, backup.stdout + backup.stderr).toBe(0);
    expect(JSON.parse(backup.stdout)).toMatchObject({ size_bytes: expect.any(Number) });
    const test = await host.run("restore-test", "--source", source, "--json");
    expect(test.code, test.stdout + test.stderr).toBe(0);
    const said = JSON.parse(test.stdout) as { result: string; checks: { result: string }[] };
    expect(said.result).toBe("passed");
    expect(said.checks.length).toBeGreaterThan(0);
    expect(new Set(said.checks.map(({ result }) => result))).toEqual(new Set(["passed"]));

    const receipts = host.receipts();
    expect(receipts).toHaveLength(before + 2);
    for (const { bundle } of receipts) expect(bundle.inclusion_proof).toBeDefined();
    expect(host.plaintext()).toEqual([]);
    expect(host.processes()).toEqual([]);
  });

  it("is stored as age ciphertext that another tool opens", () => {
    const [newest] = filesUnder(join(server.data, "objects"))
      .filter((file) => file.endsWith(".age"))
      .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
    if (!newest) throw new Error("no ciphertext in the object store");
    const identity = join(host.root, "keys", "age.key");
    const opened = spawnSync("sh", ["-c", 'age -d -i "$1" "$2" | zstd -dc | wc -c', "sh", identity, newest]);
    expect(opened.stderr.toString()).toBe("");
    expect(Number(opened.stdout.toString())).toBeGreaterThan(100);
  });

  it("is restored to a file whose content is the source's", async () => {
    const output = join(host.base, `restored-${source}`);
    const restored = await host.run("restore", "--source", source, "--output", output);
    expect(restored.code, restored.stdout + restored.stderr).toBe(0);
    const head = readFileSync(output).subarray(0, 300).toString("latin1");
    if (source === "shop") {
      expect(head.slice(0, 5)).toBe("PGDMP");
      const listed = spawnSync("pg_restore", ["--list", output], { encoding: "utf8" });
      expect(listed.stdout).toContain("TABLE DATA public orders");
    } else if (source === "invoices") {
      const copy = new DatabaseSync(output, { readOnly: true });
      expect(copy.prepare("select count(*) as n from invoices").get()).toEqual({ n: 500 });
      copy.close();
    } else {
      const listed = spawnSync("tar", ["-tf", output], { encoding: "utf8" });
      expect(listed.stdout).toContain("deep/two words.txt");
    }
    expect(statSync(output).mode & 0o077).toBe(0);
    rmSync(output);
  });
});

describe("the receipts", () => {
  it("form a chain in which each names the one before", () => {
    const receipts = host.receipts();
    const digests = receipts.map(({ bundle }) => sha256Hex(Buffer.from(bundle.envelope.payload, "base64")));
    const previous = receipts.map(({ statement }) => statement.predicate["previous_receipt_sha256"]);
    expect(previous.filter((digest) => digest === null)).toHaveLength(1);
    expect(new Set(previous).size).toBe(previous.length);
    for (const digest of previous) if (digest !== null) expect(digests).toContain(digest);
  });

  it("are true by the commands that the agent prints, even after its key was replaced", async () => {
    const calls = async (...words: string[]): Promise<string[]> => {
      const { stderr } = await host.run(...words);
      return /attestore-verify (.*)/.exec(stderr)?.[1]?.split(" ") ?? [];
    };
    const verified = await run("attestore-verify", await calls("restore-test", "--source", "invoices"));
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
    expect(verified.stdout).toMatch(/^TRUE/);
    const rotated = await host.run("keys", "rotate", "signing", "--yes");
    expect(rotated.code, rotated.stderr).toBe(0);
    const files = filesUnder(join(host.root, "receipts")).filter((file) => file.endsWith(".json"));
    expect(files.length).toBeGreaterThan(2);
    const said = await calls("receipts", "verify");
    const all = await run(
      "attestore-verify",
      said.flatMap((word) => (word === "RECEIPT" ? files : [word])),
    );
    expect(all.code, all.stdout.slice(-2000) + all.stderr).toBe(0);
  });

  it("contain only values that a check selected", () => {
    for (const { statement } of host.receipts()) {
      const text = JSON.stringify(statement);
      expect(text).not.toContain(MARKER);
      expect(text).not.toMatch(/wordless-secret|AGE-SECRET|\/tmp\//);
    }
  });
});

describe("status and doctor", () => {
  it("attestore without a command prints the status", async () => {
    const [bare, status] = [await host.run(), await host.run("status")];
    expect(bare.code, bare.stderr).toBe(0);
    expect(status.code, status.stderr).toBe(0);
    for (const source of ["shop", "invoices", "uploads"]) expect(bare.stdout).toContain(source);
    expect(bare.stdout).not.toMatch(/ats_|wordless-secret/);
  });

  it("doctor finds nothing wrong with a healthy host", async () => {
    const doctor = await host.run("doctor");
    expect(doctor.code, doctor.stdout + doctor.stderr).toBe(0);
    expect(doctor.stdout).toContain(host.root);
  });
});

describe("run", () => {
  it("does what the service asks for at once, and stops when told to", async () => {
    const before = host.receipts().length;
    const running = host.start("run");
    const state = (): string => running.talk();
    try {
      for (const [n, kind] of ["backup", "restore_test"].entries()) {
        const queued = await server.cli(
          "command",
          "queue",
          "--org",
          org.id,
          "--source",
          "invoices",
          "--kind",
          kind,
        );
        expect(queued.code, queued.stderr).toBe(0);
        // The first may come with the first heartbeat. The next heartbeat is an hour later.
        await until(`${kind} is done\n${state()}`, () => host.receipts().length === before + n + 1, 60);
      }
    } finally {
      running.child.kill("SIGTERM");
    }
    const done = await running.finished;
    expect(done.code, state()).toBe(0);
    const kinds = host.receipts().map(({ statement }) => statement.predicateType.split("/").at(-2));
    expect(kinds.filter((kind) => kind === "restore-test").length).toBeGreaterThan(0);
    expect(host.plaintext()).toEqual([]);
  });
});
