import { spawn } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { recordBackup } from "../../test/recorded.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { openDatabase } from "../platform/postgres/open-database.ts";
import { postgresClient } from "../../test/postgres-client.ts";
import { attachBody } from "../../test/new-agent.ts";
import { TestServer } from "../../test/test-server.ts";

/** Debian's, of which there are pg_dump, pg_restore and psql. */
const OLD = { ATTESTORE_POSTGRES: "/usr/lib/postgresql/15" };
/**
 * A dozen starts of a service, one after the other; some 20 s on a machine with nothing else to do.
 */
const TIMEOUT_MS = 300_000;
const PAGE = fileURLToPath(new URL("../../../../docs/operate.md", import.meta.url));

let server: TestServer;
let root: string;
let org: string;
let keys: string[];
beforeAll(async () => {
  const made = await TestServer.create({ first: true });
  root = dirname(made.data);
  server = new TestServer(root, made.port);
  Object.assign(server, { data: join(root, "attestore-server") });
  await mkdir(join(root, "bin"));
  await mkdir(join(root, "work"));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${inject("service")}' "$@"\n`;
  await writeFile(join(root, "bin", "attestore-server"), program, { mode: 0o755 });
});
afterAll(() => server.remove());

/**
 * The commands of docs/operate.md as they are written, in a directory of their own instead of
 * /var/lib.
 */
async function follow(
  name: string,
  environment: NodeJS.ProcessEnv = { ...OLD, ATTESTORE_DATA: server.data },
): Promise<void> {
  const page = await readFile(PAGE, "utf8");
  const block = new RegExp(`<!-- runs: ${name} -->\n\`\`\`sh\n([^]*?)\`\`\``).exec(page)?.[1];
  if (block === undefined) throw new Error(`docs/operate.md has no commands called ${name}`);
  const child = spawn(
    "bash",
    ["-euo", "pipefail", "-c", block.replaceAll("/var/lib", root).replaceAll("/etc/attestore-server", root)],
    {
      cwd: join(root, "work"),
      env: {
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        ...environment,
        PATH: `${join(root, "bin")}:/usr/lib/postgresql/15/bin:${process.env["PATH"]}`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
  const [code] = (await once(child, "close")) as [number];
  expect(code, `${name}: ${said}`).toBe(0);
}

type Running = Awaited<ReturnType<TestServer["serve"]>>;
async function stop(running: Running): Promise<void> {
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
}

async function json(args: string[], environment: Record<string, string>): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await server.run([...args, "--json"], environment).finished;
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout) as Record<string, unknown>;
}

const warnings = async (): Promise<unknown> =>
  (JSON.parse((await server.send("GET", "/readyz")).body.toString()) as { warnings: unknown }).warnings;

interface Looked {
  warnings: unknown;
  sweep: Record<string, unknown>;
  log: string;
}

/** Starts what was restored, and sweeps. */
async function look(environment: Record<string, string> = OLD): Promise<Looked> {
  const running = await server.serve(environment);
  const found = await warnings();
  const { stdout: swept, stderr } = await server.run(["objects", "sweep", "--yes", "--json"], environment)
    .finished;
  running.process.kill("SIGTERM");
  const { stdout, exitCode } = await running.finished;
  expect(exitCode).toBe(0);
  for (const key of keys) await readFile(join(server.data, "objects", key));
  return {
    warnings: found,
    sweep: JSON.parse(swept === "" ? stderr : swept) as Record<string, unknown>,
    log: stdout,
  };
}

async function attach(environment: Record<string, string> = OLD): Promise<{ id: string; token: string }> {
  const authKey = (await json(["auth-key", "create", "--org", org], environment))["auth_key"] as string;
  const { body } = await server.send("POST", "/api/bootstrap/attach", attachBody(), authKey);
  const { agent_id, api_token } = JSON.parse(body.toString()) as Record<string, string>;
  // Its head leaves, signed.
  expect((await server.send("GET", `/log/${org}/checkpoint`, undefined, api_token)).status).toBe(200);
  return { id: agent_id ?? "", token: api_token ?? "" };
}

/** Backups of the database's, with their objects, from years ago. */
async function addBackups(agentId: string, count: number): Promise<string[]> {
  const opened = await openDatabase({ dataDirectory: server.data, role: "command", log: silentLogger });
  const access = connectDatabase({ connection: opened.connection, log: silentLogger });
  const { database } = access;
  const sourceId = "src_01h455vb4pex5vsknk084sn02q";
  await database
    .insertInto("sources")
    .values({ id: sourceId, org_id: org, agent_id: agentId, slug: "db", name: "db", engine: "sqlite" })
    .execute();
  const old = new Date(Date.now() - 900 * 86_400_000);
  for (let n = 0; n < count; n += 1) await recordBackup(database, { orgId: org, sourceId, agentId, at: old });
  const rows = await database.selectFrom("backups").select("object_key").execute();
  await access.close();
  await opened.close();
  for (const { object_key } of rows) {
    const path = join(server.data, "objects", object_key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "ciphertext");
    await utimes(path, old, old);
  }
  return rows.map(({ object_key }) => object_key);
}

/**
 * pg_dump, and a pg_restore that first writes down the dump's mode and whether the data directory
 * is locked.
 */
async function watchedPrograms(): Promise<string> {
  const real = postgresClient();
  const directory = join(root, "watched-programs");
  await mkdir(directory);
  const look = `
    const { statSync, writeFileSync } = require("node:fs");
    const { DatabaseSync } = require("node:sqlite");
    const at = (name) => require("node:path").join(${JSON.stringify(server.data)}, name);
    let lock = "free";
    try { new DatabaseSync(at("owner.lock")).exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"); } catch { lock = "locked"; }
    const mode = statSync(at("postgres-upgrade/database.dump")).mode & 0o777;
    writeFileSync(${JSON.stringify(join(root, "watched"))}, mode.toString(8) + " " + lock);
  `;
  await writeFile(join(directory, "look.cjs"), look);
  const first = `[ "$1" = --version ] || '${process.execPath}' --no-warnings '${join(directory, "look.cjs")}' || exit 9\n`;
  for (const [name, before] of [
    ["pg_dump", ""],
    ["pg_restore", first],
  ] as const)
    await writeFile(join(directory, name), `#!/bin/sh\n${before}exec '${join(real, name)}' "$@"\n`, {
      mode: 0o755,
    });
  return directory;
}

const well = {
  warnings: [],
  sweep: { objects: 15, quarantined: 0, removed: 0 },
  log: expect.not.stringContaining('"level":"error"') as unknown,
};

test(
  "backing up, restoring, and a new major version of PostgreSQL, as docs/operate.md has them, lose no object and set no log back",
  async () => {
    const first = await server.serve(OLD);
    org = (await json(["org", "add", "Procedures"], OLD))["id"] as string;
    keys = await addBackups((await attach()).id, 15);
    await follow("running-backup");
    await stop(first);

    await follow("stopped-backup");
    for (const copy of ["attestore.dump", "attestore-files.tar", "work/attestore-server.tar"])
      expect((await stat(join(root, copy))).mode & 0o077, copy).toBe(0);
    await follow("stopped-restore");
    expect(await look()).toMatchObject(well);
    await rm(join(root, "attestore-server.broken"), { recursive: true });

    await follow("dump-restore");
    expect(await look()).toMatchObject(well);
    await rm(join(root, "attestore-server.broken"), { recursive: true });

    const programs = { ATTESTORE_POSTGRES_CLIENT: await watchedPrograms() };
    // As a kill -9 at the last step leaves it, and before that.
    await mkdir(join(server.data, "postgres-upgrade", "postgres"), { recursive: true });
    await follow("major-upgrade", { ...programs, ATTESTORE_DATA: server.data });
    // Nobody else may read the dump, and no service may begin on the old database after it.
    expect(await readFile(join(root, "watched"), "utf8")).toBe("600 locked");
    expect(await readFile(join(server.data, "postgres", "data", "PG_VERSION"), "utf8")).toBe("18\n");
    expect(await look({})).toMatchObject(well);
    const at = (name: string): string => join(server.data, name);
    await mkdir(at("postgres-upgrade"));
    await rename(at("postgres"), at("postgres-upgrade/postgres"));
    const refused = await server.run(["serve"], {}).finished;
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining("database upgrade again"),
    ]);
    await follow("major-upgrade", { ...programs, ATTESTORE_DATA: server.data });
    expect(await look({})).toMatchObject(well);
    await rm(at("postgres.old"), { recursive: true });
    const elsewhere = await server.run(["database", "upgrade", "--from", "/usr/lib/postgresql/15"], {
      ATTESTORE_DATA: join(root, "nowhere"),
    }).finished;
    expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([
      2,
      expect.stringContaining("There is no embedded database"),
    ]);
  },
  TIMEOUT_MS,
);

test(
  "a dump from before heads were signed: every object stays, and the log is read-only",
  async () => {
    const running = await server.serve({});
    await attach();
    await stop(running);
    await follow("dump-restore");
    expect(await look()).toMatchObject({
      // The objects and their marker are of the same time as the database.
      warnings: ["logs_set_back"],
      sweep: { objects: 15, quarantined: 0, removed: 0 },
    });
  },
  TIMEOUT_MS,
);

test(
  "keys move into a token as docs/operate.md has it, and the service goes on with them",
  async () => {
    await stop(await server.serve(OLD));
    const before = await readFile(join(server.data, "keys", "log-signing.pem"), "utf8");
    // Root's shell has none of the unit's settings.
    await follow("key-token", OLD);
    expect((await stat(join(root, "attestore-key-files.tar"))).mode & 0o077).toBe(0);
    expect((await readdir(join(server.data, "keys"))).toSorted()).toEqual(["object-urls.key"]);
    const environment = {
      ...OLD,
      ATTESTORE_CONFIG: join(root, "config"),
      SOFTHSM2_CONF: join(root, "attestore-token", "softhsm2.conf"),
    };
    const away = join(root, "nowhere");
    const wrong = { ...environment, ATTESTORE_DATA: away };
    const refused = await server.run(["keys", "move"], wrong).finished;
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("no service's database")]);
    await expect(readdir(away)).rejects.toThrow("ENOENT");
    const fresh = { ...wrong, ATTESTORE_LOG_KEY: "pkcs11:token=attestore;object=another-log" };
    expect(await json(["keys", "move", "--new"], fresh)).toMatchObject({
      keys: [{ key: "log", is: "made" }, { key: "time" }, { key: "ca" }, { key: "sealing" }],
    });
    const running = await server.serve(environment);
    // The log of before is read-only.
    org = (await json(["org", "add", "Token"], environment))["id"] as string;
    await attach(environment);
    await stop(running);
    // Nor is it in the token's files as it was in ours.
    const { d = "" } = createPrivateKey(before).export({ format: "jwk" });
    const tokens = join(root, "attestore-token", "tokens");
    for (const entry of await readdir(tokens, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        expect(await readFile(join(entry.parentPath, entry.name), "latin1")).not.toContain(
          Buffer.from(d, "base64url").toString("latin1"),
        );
  },
  TIMEOUT_MS,
);
