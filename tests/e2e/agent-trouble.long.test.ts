import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { SmallDisk } from "../../packages/host/test/small-disk.ts";
import { createShop, MARKER, startDatabaseServer, type DatabaseServer } from "./harness/database.ts";
import { attachedHost, type Host } from "./harness/host.ts";
import { attach, createOrganisation, type WireAgent } from "./harness/organisation.ts";
import { descendants } from "./harness/processes.ts";
import type { Finished } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

/**
 * A failed dump, a full disk, an unreachable service, an interrupt: a clear message, the right exit
 * code, nothing left.
 */

let server: Server;
let watcher: WireAgent;
let database: DatabaseServer;
let data: string;
let host: Host;

/** pg_dump at work, and not one that is asked for its version. */
const DUMPING = /^\S*pg_dump\b.* (--format|-F)/;

const PASSWORD = "unguessable-word-5150";

beforeAll(async () => {
  server = await startServer();
  database = await startDatabaseServer();
  createShop(database, "shop");
  database.sql("shop", "create role clerk login; grant select on customers to clerk;");
  data = mkdtempSync(join(tmpdir(), "attestore-e2e-trouble-"));
  const large = new DatabaseSync(join(data, "large.db"));
  large.exec(`
    create table noise (n integer primary key, text text, bytes blob);
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 20)
    insert into noise select i, '${MARKER}', randomblob(1000000) from n;
  `);
  large.close();
});
afterAll(async () => {
  rmSync(data, { recursive: true, force: true });
  await database.stop();
  await server.remove();
});

/**
 * A host and an organisation of its own for each kind of trouble: what one of them leaves waiting
 * is not another's.
 */
function ownHost(): void {
  beforeAll(async () => {
    const org = await createOrganisation(server);
    watcher = await attach(org);
    host = await attachedHost(org, {
      SHOP_URL: database.url("shop", "shop", PASSWORD),
      CLERK_URL: database.url("shop", "clerk", PASSWORD),
      NOWHERE_URL: `postgresql://shop:${PASSWORD}@127.0.0.1:1/shop`,
    });
    host.addSources(`  shop: { engine: postgresql, connection: "env:SHOP_URL" }
  clerk: { engine: postgresql, connection: "env:CLERK_URL" }
  nowhere: { engine: postgresql, connection: "env:NOWHERE_URL" }
  unset: { engine: postgresql, connection: "env:NOBODY_SET_THIS" }
  large: { engine: sqlite, path: "${join(data, "large.db")}" }
  gone: { engine: sqlite, path: "${join(data, "gone.db")}" }
  no-files: { engine: files, path: "${join(data, "no-such-directory")}" }
`);
  });
  afterAll(() => host.remove());
}

afterEach(() => {
  expect(host.plaintext()).toEqual([]);
  expect(host.processes()).toEqual([]);
});

async function treeSize(): Promise<number> {
  return (await watcher.call("GET", "/v1/log/head")).json<{ tree_size: number }>().tree_size;
}

const blobs = (): string[] => readdirSync(join(host.root, "blobs"), { recursive: true, encoding: "utf8" });

/**
 * A message for a person without a secret in it, and the exit code: 2 could not run, 1 ran and
 * failed.
 */
function expectTrouble(finished: Finished, message: RegExp, code: number): void {
  const talk = finished.stdout + finished.stderr;
  expect(finished.code, talk).toBe(code);
  expect(finished.stderr).toMatch(message);
  expect(talk).not.toContain(PASSWORD);
  expect(talk).not.toMatch(/\n\s+at .+:\d+|\bError: Error|\[object Object\]|undefined/);
}

/** Holds a lock that stops pg_dump in its tracks, for as long as `during` runs. */
async function whileLocked(during: () => Promise<void>): Promise<void> {
  const holder = spawn("psql", ["-X", "-qAt", "-d", database.url("shop")], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  let said = "";
  holder.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  holder.stdin.write("begin; lock table orders in access exclusive mode; select 'locked';\n");
  try {
    await until("the table is locked", () => said.includes("locked"));
    await during();
  } finally {
    const ended = once(holder, "close");
    holder.stdin.end();
    await ended;
  }
}

describe("a dump that fails", () => {
  ownHost();

  it.each<[string, RegExp, number]>([
    ["clerk", /permission denied.*orders|orders.*permission denied/s, 1],
    ["nowhere", /127\.0\.0\.1|refused/, 2],
    ["unset", /NOBODY_SET_THIS/, 2],
    ["gone", /gone\.db/, 2],
    ["no-files", /no-such-directory/, 2],
  ])(
    "of %s is reported to the user and the service, and nothing of it is kept",
    async (source, message, code) => {
      const [receipts, kept, size] = [host.receipts().length, blobs(), await treeSize()];
      expectTrouble(await host.run("backup", "--source", source), message, code);
      expect(host.receipts()).toHaveLength(receipts);
      expect(blobs()).toEqual(kept);
      expect(await treeSize()).toBe(size + 1);
    },
  );

  it("because pg_dump was killed is not registered as a backup", async () => {
    const [receipts, kept, size] = [host.receipts().length, blobs(), await treeSize()];
    await whileLocked(async () => {
      const running = host.start("backup", "--source", "shop");
      const dump = await until("pg_dump runs", () =>
        descendants(running.child.pid ?? 0).find(({ command }) => DUMPING.test(command)),
      );
      process.kill(dump.pid, "SIGKILL");
      expectTrouble(await running.finished, /pg_dump/, 1);
    });
    expect(host.receipts()).toHaveLength(receipts);
    expect(blobs()).toEqual(kept);
    expect(await treeSize()).toBe(size + 1);
  });

  it("never shows the password in the list of processes", async () => {
    await whileLocked(async () => {
      const running = host.start("backup", "--source", "shop");
      await until("pg_dump runs", () =>
        descendants(running.child.pid ?? 0).some(({ command }) => DUMPING.test(command)),
      );
      for (const { command } of descendants(process.pid)) expect(command).not.toContain(PASSWORD);
      running.child.kill("SIGINT");
      await running.finished;
    });
  });
});

describe("an interrupted agent", () => {
  ownHost();

  it("ends its backup with exit code 130 and leaves nothing behind", async () => {
    const [receipts, kept] = [host.receipts().length, blobs()];
    await whileLocked(async () => {
      const running = host.start("backup", "--source", "shop");
      const pid = running.child.pid ?? 0;
      await until("pg_dump runs", () => descendants(pid).some(({ command }) => DUMPING.test(command)));
      running.child.kill("SIGINT");
      const done = await running.finished;
      expect(done.code ?? done.signal, done.stderr).toBe(130);
      expect(host.processes()).toEqual([]);
    });
    expect(host.receipts()).toHaveLength(receipts);
    expect(blobs()).toEqual(kept);
  });

  it("ends its restore test with exit code 130, and its scratch server too", async () => {
    const backup = await host.run("backup", "--source", "shop");
    expect(backup.code, backup.stderr).toBe(0);
    const receipts = host.receipts().length;
    const running = host.start("restore-test", "--source", "shop");
    await until(`its scratch server starts\n${running.talk()}`, () =>
      descendants(running.child.pid ?? 0).some(({ command }) => /initdb|postgres/.test(command)),
    );
    running.child.kill("SIGINT");
    const done = await running.finished;
    expect(done.code ?? done.signal, done.stderr).toBe(130);
    expect(host.processes()).toEqual([]);
    expect(host.receipts()).toHaveLength(receipts);
  });
});

describe("a full disk", () => {
  ownHost();

  it.each(["blobs", "receipts"])(
    "under %s/ stops a backup with a message, and the next backup succeeds once there is space",
    async (where) => {
      const directory = join(host.root, where);
      const before = host.receipts().length;
      const kept = blobs();
      {
        using disk = new SmallDisk(directory, { bytes: where === "blobs" ? 4 << 20 : 4 << 10 });
        if (where === "receipts") disk.fill();
        const source = where === "blobs" ? "large" : "shop";
        expectTrouble(await host.run("backup", "--source", source), /room|space|disk/i, 2);
        if (where === "blobs") expect(blobs()).toEqual([]);
      }
      expect(host.receipts()).toHaveLength(before);
      expect(blobs().length).toBeGreaterThanOrEqual(kept.length);
      const again = await host.run("backup", "--source", "large");
      expect(again.code, again.stdout + again.stderr).toBe(0);
      const synced = await host.run("sync");
      expect(synced.code, synced.stdout + synced.stderr).toBe(0);
      for (const { bundle } of host.receipts()) expect(bundle.inclusion_proof).toBeDefined();
    },
  );

  it("under the whole root is reported by each command, which succeeds once there is space", async () => {
    const small = mkdtempSync(join(tmpdir(), "attestore-e2e-full-"));
    try {
      using disk = new SmallDisk(small, { bytes: 8 << 20 });
      const root = join(small, "root");
      cpSync(host.root, root, { recursive: true });
      disk.fill();
      const inSmall = (...words: string[]) => host.run(...words, "--root", root);
      for (const words of [["backup", "--source", "shop"], ["restore-test", "--source", "shop"], ["sync"]]) {
        const { code, stdout, stderr } = await inSmall(...words);
        expect(stderr, words.join(" ")).not.toMatch(/defect| at .*\.ts/);
        if (words[0] !== "sync") {
          expect(code, stdout + stderr).toBe(2);
          expect(stderr).toMatch(/no room|no space/i);
        }
      }
      const status = await inSmall("status");
      expect(status.stdout, status.stderr).toMatch(/sources? proven/);
      const doctor = await inSmall("doctor");
      expect(doctor.stdout, doctor.stderr).toContain("disk ");
      expect(doctor.stderr).toBe("");
      disk.empty();
      const again = await inSmall("backup", "--source", "shop");
      expect(again.code, again.stdout + again.stderr).toBe(0);
    } finally {
      rmSync(small, { recursive: true });
    }
  });
});

describe("a service that cannot be reached", () => {
  ownHost();

  it("loses no backup: the agent keeps it, and stores it when the service is back", async () => {
    const before = host.receipts().length;
    await server.stop();
    const kept = blobs().length;
    const offline = await host.run("backup", "--source", "shop");
    expect(offline.code, offline.stdout + offline.stderr).toBe(2);
    expect(offline.stderr).toMatch(/localhost:\d+/);
    expect(offline.stderr).toMatch(/sync|later|kept/i);
    expect(blobs().length).toBeGreaterThan(kept);
    await server.start();
    const synced = await host.run("sync");
    expect(synced.code, synced.stdout + synced.stderr).toBe(0);
    const receipts = host.receipts();
    expect(receipts).toHaveLength(before + 1);
    for (const { bundle } of receipts) expect(bundle.inclusion_proof).toBeDefined();
    const test = await host.run("restore-test", "--source", "shop");
    expect(test.code, test.stdout + test.stderr).toBe(0);
  });

  it("loses no event: the agent delivers it when the service is back", async () => {
    const size = await treeSize();
    await server.stop();
    expect((await host.run("backup", "--source", "gone")).code).toBe(2);
    await server.start();
    expect((await host.run("sync")).code).toBe(0);
    expect(await treeSize()).toBe(size + 1);
    expect((await host.run("sync")).code).toBe(0);
    expect(await treeSize()).toBe(size + 1);
  });

  it("loses no receipt of a restore test that ends while it is away", async () => {
    const backup = await host.run("backup", "--source", "shop");
    expect(backup.code, backup.stderr).toBe(0);
    const before = host.receipts().length;
    const running = host.start("restore-test", "--source", "shop");
    await until("the ciphertext is here and the scratch server starts", () =>
      descendants(running.child.pid ?? 0).some(({ command }) => /initdb|postgres/.test(command)),
    );
    await server.kill();
    const done = await running.finished;
    expect([0, 2], done.stdout + done.stderr).toContain(done.code);
    expect(host.receipts().length).toBe(before + 1);
    await server.start();
    const synced = await host.run("sync");
    expect(synced.code, synced.stdout + synced.stderr).toBe(0);
    const receipts = host.receipts();
    expect(receipts).toHaveLength(before + 1);
    for (const { bundle } of receipts) expect(bundle.inclusion_proof).toBeDefined();
  });

  it("is reported when it does not know the agent's token", async () => {
    const token = join(host.root, "keys", "token");
    const kept = readFileSync(token, "utf8");
    writeFileSync(token, `ats_${"A".repeat(43)}\n`);
    try {
      const refused = await host.run("backup", "--source", "shop");
      expect(refused.code, refused.stdout + refused.stderr).toBe(2);
      expect(refused.stderr).toMatch(/token|attach|init/i);
      expect(refused.stderr).not.toContain("A".repeat(43));
    } finally {
      writeFileSync(token, kept);
    }
    expect((await host.run("sync")).code).toBe(0);
  });
});

describe("an organisation that has used up its storage", () => {
  let small: Server;
  let settings: string;

  beforeAll(async () => {
    settings = join(data, "service.conf");
    writeFileSync(settings, "ATTESTORE_QUOTA_OBJECTS=1\n");
    small = await startServer({ ATTESTORE_CONFIG: settings });
    host = await attachedHost(await createOrganisation(small), {});
    host.addSources(`  large: { engine: sqlite, path: "${join(data, "large.db")}" }\n`);
  });
  afterAll(async () => {
    host.remove();
    await small.remove();
  });

  it("loses no backup: it waits on the host, with a message, and is stored once there is room", async () => {
    const first = await host.run("backup", "--source", "large");
    expect(first.code, first.stderr).toBe(0);
    const refused = await host.run("backup", "--source", "large");
    expectTrouble(refused, /quota of backups is used up: 1 of 1/, 2);
    expect(refused.stderr).toMatch(/sync|later|kept/i);
    const waiting = blobs().filter((name) => name.endsWith(".age"));
    expect(waiting).toHaveLength(1);
    const status = await host.run("status");
    expect(status.stdout).toMatch(/1 backup/);
    expect((await host.run("sync")).code).toBe(2);
    expect(blobs().filter((name) => name.endsWith(".age"))).toEqual(waiting);
    // The stored receipts are proven all the same.
    const tested = await host.run("restore-test", "--source", "large");
    expect(tested.code, tested.stderr).toBe(0);

    await small.stop();
    writeFileSync(settings, "ATTESTORE_QUOTA_OBJECTS=10\n");
    await small.start();
    const synced = await host.run("sync");
    expect(synced.code, synced.stdout + synced.stderr).toBe(0);
    expect(blobs().filter((name) => name.endsWith(".age"))).toEqual([]);
    expect(host.receipts()).toHaveLength(3);
  });
});
