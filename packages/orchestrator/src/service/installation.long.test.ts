import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { comparePair } from "../features/installation/pairing.ts";
import { putTestCluster } from "../../test/database/test-database.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { DiskStore } from "../platform/objects/disk-store.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { openDatabase } from "../platform/postgres/open-database.ts";
import { query as ask } from "../../test/postgres/test-services.ts";
import { attachBody } from "../../test/new-agent.ts";
import { TestServer } from "../../test/test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.create();
});
afterEach(() => server.remove());

const KEYS = Array.from({ length: 12 }, (_, n) => `org_1/src_1/upl_${n}.age`);
const file = (...path: string[]): string => join(server.data, ...path);

/** Objects as they lie there after years. */
async function addObjects(keys: readonly string[]): Promise<void> {
  const old = new Date(Date.now() - 90 * 86_400_000);
  for (const key of keys) {
    await mkdir(join(file("objects", key), ".."), { recursive: true });
    await writeFile(file("objects", key), "ciphertext");
    await utimes(file("objects", key), old, old);
  }
}

async function stored(): Promise<string[]> {
  return (await readdir(file("objects", "org_1", "src_1")).catch(() => [])).filter((name) =>
    name.endsWith(".age"),
  );
}

type Running = Awaited<ReturnType<TestServer["serve"]>>;
/** With owners and modes. */
const copy = (from: string, to: string): Promise<unknown> => promisify(execFile)("cp", ["-a", from, to]);

async function stop(running: Running): Promise<void> {
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
}

/** Until the hourly sweep has been there. */
const swept = (running: Running): Promise<void> => running.said('"job":"sweep_objects"');

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await server.run([...args, "--json"]).finished;
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** What the service finds, looked at from beside it. */
async function pairing(): Promise<unknown> {
  const opened = await openDatabase({ dataDirectory: server.data, role: "command", log: silentLogger });
  const access = connectDatabase({ connection: opened.connection, log: silentLogger });
  const objects = new DiskStore({
    directory: file("objects"),
    publicUrl: "https://x",
    hmacKey: Buffer.alloc(32),
  });
  try {
    return (await comparePair({ db: access.database, pool: access.pool }, objects)).pairing;
  } finally {
    await access.close();
    await opened.close();
  }
}

const warnings = async (): Promise<unknown> =>
  (JSON.parse((await server.send("GET", "/readyz")).body.toString()) as { warnings: unknown }).warnings;

test("an empty database beside objects: nothing is deleted, readyz and doctor say so, and adopting them is a decision", async () => {
  await stop(await server.serve());
  await addObjects(KEYS);
  await rename(file("postgres"), file("postgres.old"));
  await putTestCluster(server.data);
  const running = await server.serve();
  await swept(running);
  expect(await stored()).toHaveLength(KEYS.length);
  expect(await warnings()).toEqual(["deletions_held"]);
  const metrics = (await server.send("GET", "/metrics")).body.toString();
  expect(metrics).toContain("attestore_deletions_held 1");
  const { findings } = (await json("doctor")) as { findings: { check: string; level: string }[] };
  expect(findings).toContainEqual(expect.objectContaining({ check: "installation", level: "failed" }));
  expect(await json("objects", "status")).toMatchObject({
    state: "held",
    reason: "database_unnamed",
    unknown_objects: KEYS.length,
  });
  const shown = await server.run(["objects", "adopt"]).finished;
  expect(shown.stderr).toContain(`Objects that it does not know (${KEYS.length}) go into quarantine`);
  expect(await json("objects", "adopt", "--yes")).toMatchObject({ adopted: true });
  expect(await pairing()).toEqual({ is: "paired" });
  await stop(running);
  // The database that they belonged to comes back, and deletes nothing either.
  await rename(file("postgres"), file("postgres.empty"));
  await rename(file("postgres.old"), file("postgres"));
  const back = await server.serve();
  expect(await pairing()).toMatchObject({ is: "held", reason: "other_installation" });
  await stop(back);
  expect(await stored()).toHaveLength(KEYS.length);
});

test("objects of a version that gave no names beside an empty database are left alone", async () => {
  await addObjects(KEYS.slice(0, 1));
  const running = await server.serve();
  await swept(running);
  expect(await stored()).toHaveLength(1);
  expect(await pairing()).toMatchObject({ is: "held", reason: "objects_unknown" });
  await stop(running);
});

test("a database set back is found at the start: its log takes nothing, and no object goes", async () => {
  const first = await server.serve();
  const org = (await json("org", "add", "Set back"))["id"] as string;
  await stop(first);
  await copy(file("postgres", "data"), file("older"));
  const second = await server.serve();
  const key = (await json("auth-key", "create", "--org", org))["auth_key"] as string;
  const agent = await attach(key);
  expect(agent.status).toBe(201);
  const token = agent.json["api_token"] as string;
  // The head leaves, signed.
  expect((await get(`/log/${org}/checkpoint`, token)).status).toBe(200);
  await stop(second);
  await rm(file("postgres", "data"), { recursive: true });
  await rename(file("older"), file("postgres", "data"));
  await addObjects(KEYS);
  const third = await server.serve();
  const sweep = await server.run(["objects", "sweep", "--yes"]).finished;
  expect([sweep.exitCode, sweep.stderr]).toEqual([1, expect.stringContaining("The database was set back")]);
  expect(await stored()).toHaveLength(KEYS.length);
  expect(await pairing()).toMatchObject({ is: "held", reason: "database_set_back" });
  expect(await warnings()).toEqual(["deletions_held", "logs_set_back"]);
  const newKey = (await json("auth-key", "create", "--org", org))["auth_key"] as string;
  const refused = await attach(newKey);
  expect([refused.status, refused.json["error"], refused.json["details"]]).toEqual([
    503,
    "unavailable",
    { reason: "log_set_back" },
  ]);
  const { exitCode, stdout } = await server.run(["fsck", "--json"]).finished;
  const { findings } = JSON.parse(stdout) as { findings: { code: string; message: string }[] };
  const signed = { code: "signed_head", org_id: org };
  expect([exitCode, findings]).toMatchObject([1, [signed, signed, signed]]);
  const lost = await server.run(["log", "lost", "--json"]).finished;
  expect([lost.exitCode, JSON.parse(lost.stdout)]).toMatchObject([
    1,
    {
      logs: [
        {
          org_id: org,
          left: { slug: "set-back", tree_size: 0 },
          lost: [
            {
              tree_size: 1,
              known_from: ["signed-heads", "the object store's marker", "the mark that stopped this log"],
            },
          ],
        },
      ],
      not_compared: [],
    },
  ]);
  expect((await server.run(["log", "lost"]).finished).stdout).toContain(
    "(set-back): at least 1 entry is lost",
  );
  // Reads go on, and adopting the objects lets no log go on.
  expect((await json("org", "list")) as unknown).toHaveLength(1);
  await json("objects", "adopt", "--yes");
  await stop(third);
  // Also without this machine's own file, as on another one with the same bucket.
  await rm(file("signed-heads"));
  const fourth = await server.serve();
  expect(await warnings()).toEqual(["logs_set_back"]);
  await stop(fourth);
});

test("kill -9 between the marker and the database: the next start pairs them", async () => {
  const first = await server.serve();
  await stop(first);
  const marker = file("objects", ".attestore", "installation.json");
  const { installation_id } = JSON.parse(await readFile(marker, "utf8")) as { installation_id: string };
  const unpaired = async (): Promise<void> => {
    const running = await server.serve();
    await query(`update service_settings set value = '${JSON.stringify({ id: installation_id, paired: false })}'
      where name = 'installation'`);
    running.process.kill("SIGKILL");
    await once(running.process, "close");
  };
  // After the marker was written, and before.
  for (const isWritten of [true, false]) {
    await unpaired();
    if (!isWritten) await rm(marker);
    const running = await server.serve();
    expect(await warnings()).toEqual([]);
    expect(await pairing()).toEqual({ is: "paired" });
    expect(await readFile(marker, "utf8")).toContain(installation_id);
    await stop(running);
  }
  // A marker that goes after that is missed.
  await rm(marker);
  const running = await server.serve();
  expect(await pairing()).toMatchObject({ is: "held", reason: "marker_missing" });
  await stop(running);
});

/** In the database of the running service. */
async function query(text: string): Promise<void> {
  const opened = await openDatabase({ dataDirectory: server.data, role: "command", log: silentLogger });
  await ask(opened.connection, text);
  await opened.close();
}

async function attach(authKey: string): Promise<{ status: number; json: Record<string, unknown> }> {
  const { status, body } = await server.send("POST", "/api/bootstrap/attach", attachBody(), authKey);
  return { status, json: JSON.parse(body.toString()) as Record<string, unknown> };
}

const get = (path: string, token: string) => server.send("GET", path, undefined, token);
