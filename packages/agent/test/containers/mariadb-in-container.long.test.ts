import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { findSandbox } from "../../src/engines/index.ts";
import { parseSourceConfig } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import {
  type TestRestoreRequest,
  type RestoreTestResult,
  restoreAndCheck,
} from "../../src/runs/restore-and-check.ts";
import { CONTAINER_DEFAULTS, type ContainerSandboxConfig } from "../../src/config/sandbox-config.ts";
import { makeTestPlace, type TestPlace } from "../runs/scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../runs/source-mariadb.ts";
import { type Finished, runCli } from "../service/cli.ts";
import { MARIADB_IMAGE, type Podman, startPodman } from "./podman.ts";

const never = new AbortController().signal;
const ROWS = 20_000;
const CONTAINER: ContainerSandboxConfig = { ...CONTAINER_DEFAULTS, image: `${MARIADB_IMAGE}:{major}` };

let podman: Podman;
let place: TestPlace;
let server: SourceMariadb;
let backup: MadeBackup;
const hostBefore = process.env["DOCKER_HOST"];

beforeAll(async () => {
  podman = await startPodman("mariadb");
  process.env["DOCKER_HOST"] = `unix://${podman.socket}`;
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  server.sql(`
    create database shop default character set utf8mb4; use shop;
    create table orders (id int not null auto_increment primary key, price decimal(12, 2) check (price >= 0), note text, key (price));
    insert into orders (price, note) select seq, concat('secret note ', seq, ' ü€😀', repeat('.', 300)) from seq_1_to_${ROWS};
    create table old_fashioned (a int) engine = MyISAM;
    insert into old_fashioned values (1), (2), (3), (4);
    create definer = 'gone'@'nowhere' view dear as select id from orders where price > 10;
  `);
  backup = await back();
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
  await podman?.stop();
  if (hostBefore === undefined) delete process.env["DOCKER_HOST"];
  else process.env["DOCKER_HOST"] = hostBefore;
});
afterEach(async () => {
  expect(podman.everything()).toEqual([]);
  expect((await place.leftovers()).filter((name) => !name.endsWith(".age"))).toEqual([]);
});

function back(): Promise<MadeBackup> {
  return writeEncryptedDump({
    source: server.source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    signal: never,
  });
}

function testIn(
  sandbox: ContainerSandboxConfig,
  checks: TestRestoreRequest["source"]["checks"] = [],
  more: Partial<TestRestoreRequest> = {},
): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source: { ...server.source, sandbox, checks },
    ciphertext: { path: backup.path },
    sha256: backup.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: backup.sourceMetadata,
    signal: never,
    ...more,
  });
}

test("a restore test passes if the schema and every count are the same, and its receipt can name the image", async () => {
  const tested = await testIn(CONTAINER, [
    {
      id: "sum",
      query: "select sum(price) as total from orders",
      expect: `total = ${(ROWS * (ROWS + 1)) / 2}`,
    },
    {
      id: "text",
      query: "select trim('.' from note) as note from orders where id = 1",
      expect: "note = 'secret note 1 ü€😀'",
    },
    { id: "view", query: "select count(*) as n from dear", expect: `n = ${ROWS - 10}` },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(tested.runtime).toEqual({
    kind: "container",
    engine: "mariadb",
    engine_version: expect.stringMatching(/^10\.11\.[0-9]+-MariaDB$/),
    image_digest: podman.run("image", "inspect", "--format", "{{.Digest}}", `${MARIADB_IMAGE}:10.11`).trim(),
  });
  expect(tested.checks.map(({ id, result }) => `${id} ${result}`).toSorted()).toEqual([
    "inferred:kinds passed",
    "inferred:objects passed",
    "inferred:rows:shop.old_fashioned passed",
    "inferred:rows:shop.orders passed",
    "inferred:schema passed",
    "inferred:tables passed",
    "sum passed",
    "text passed",
    "view passed",
  ]);
});

test("a restore with its data in memory fails when a check does not hold", async () => {
  const tested = await testIn({ ...CONTAINER, storage: "memory" }, [
    { id: "more", query: "select count(*) as n from orders", expect: `n > ${ROWS}` },
  ]);
  expect(tested).toMatchObject({ result: "failed", reason: expect.stringContaining("check more failed") });
  expect(tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual(["more"]);
});

test("a dump that cannot be loaded fails it, with the server's error; no row is quoted", async () => {
  // In its first statement, so that most of it comes after the client has ended.
  server.sql("set check_constraint_checks = 0; update shop.orders set price = -1 where id = 1");
  const broken = await back();
  server.sql("update shop.orders set price = 1 where id = 1");
  const tested = await testIn(CONTAINER, [], {
    ciphertext: { path: broken.path },
    sha256: broken.sha256,
    backupMetadata: broken.sourceMetadata,
  });
  expect(tested).toMatchObject({ result: "failed", checks: [] });
  expect(tested.reason).toMatch(/^the dump cannot be loaded \(error 4025, SQLSTATE 23000, at line [0-9]+/);
});

test("an abort while it restores leaves nothing", async () => {
  const controller = new AbortController();
  const tested = testIn(CONTAINER, [], {
    signal: controller.signal,
    onProgress: ({ phase }) => {
      if (phase === "restore") controller.abort();
    },
  });
  await expect(tested).rejects.toMatchObject({ code: "interrupted" });
});

test("doctor names the container image of a restore test, once there is a backup", async () => {
  const root = join(place.dir, "root");
  const cli = (...args: string[]): Promise<Finished> => runCli(args, { env: { ATTESTORE_HOME: root } });
  const foundByDoctor = async (): Promise<unknown> => {
    const { stdout } = await cli("doctor", "--json");
    const { findings } = JSON.parse(stdout) as { findings: { title: string }[] };
    return findings.find(({ title }) => title === "sandbox of shop");
  };
  expect((await cli("init", "--standalone")).code).toBe(0);
  const file = join(root, "config.yaml");
  const config = parse(await readFile(file, "utf8")) as Record<string, unknown>;
  const sandbox = { kind: "container", image: CONTAINER.image };
  const shop = { engine: "mariadb", connection: "env:TEST_MARIADB_URL", sandbox };
  await writeFile(file, stringify({ ...config, sources: { shop } }));

  expect(await foundByDoctor()).toMatchObject({
    result: "good",
    detail: "container: the required version is known after the first backup",
  });
  const made = await cli("backup", "--source", "shop");
  expect(made.code, made.stderr).toBe(0);
  expect(await foundByDoctor()).toMatchObject({
    result: "good",
    detail: expect.stringMatching(/^restores into mariadb 10\.11\.[0-9]+-MariaDB in a container$/),
  });
  const tested = await cli("restore-test", "--source", "shop", "--json");
  expect(tested.code, tested.stderr).toBe(0);
  expect(tested.stdout).toContain('"container"');
});

describe("names the missing part", () => {
  const ofVersion = (version: string | null): Promise<RestoreTestResult> =>
    testIn(CONTAINER, [], { backupMetadata: { ...backup.sourceMetadata, engine_version: version } });

  test("an image: MariaDB's and MySQL's official ones, of the backup's release", async () => {
    for (const [engine_version, image] of [
      ["10.11.2-MariaDB-log", "docker.io/library/mariadb:10.11"],
      ["8.4.3", "docker.io/library/mysql:8.4"],
    ])
      await expect(
        findSandbox({ ...server.source, sandbox: CONTAINER_DEFAULTS }, { engine_version }),
      ).rejects.toMatchObject({
        code: "tool_missing",
        message: expect.stringContaining(`the image ${image} is not on this host: pull it`),
      });
  });

  test("an image that is no older than the backup", async () => {
    podman.run("tag", `${MARIADB_IMAGE}:10.11`, `${MARIADB_IMAGE}:11.4`);
    await expect(ofVersion("11.4.2-MariaDB")).rejects.toMatchObject({
      code: "tool_too_old",
      message: expect.stringMatching(
        /^the backup is of MariaDB 11\.4\.2-MariaDB, but the image localhost\/attestore-test\/mariadb:11\.4 has MariaDB 10\.11\.[0-9]+: name one of that version or newer under sandbox\.image/,
      ),
    });
  });

  test("nothing where the image is newer", async () => {
    const sandbox = { ...CONTAINER, image: `${MARIADB_IMAGE}:10.11` };
    const found = await findSandbox({ ...server.source, sandbox }, { engine_version: "10.6.18-MariaDB" });
    expect(found.runtime).toMatchObject({ kind: "container", engine: "mariadb" });
  });

  test("an image of the backup's product", async () => {
    podman.run("tag", `${MARIADB_IMAGE}:10.11`, `${MARIADB_IMAGE}:8.0`);
    await expect(ofVersion("8.0.36")).rejects.toMatchObject({
      code: "tool_missing",
      message: expect.stringMatching(
        /^the backup is of MySQL 8\.0\.36, but the image \S+ has MariaDB 10\.11/,
      ),
    });
  });

  test("the backup's version", async () => {
    await expect(ofVersion(null)).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining("set one under sandbox.image"),
    });
  });

  test("room", async () => {
    server.sql(
      "use shop; create table large as select seq, repeat(md5(seq), 60) as t from (select seq from seq_1_to_10000) s",
    );
    const large = await back();
    server.sql("drop table shop.large");
    const full = testIn({ ...CONTAINER, storage: "memory", memory_mb: 256 }, [], {
      ciphertext: { path: large.path },
      sha256: large.sha256,
      backupMetadata: large.sourceMetadata,
    });
    await expect(full).rejects.toMatchObject({
      name: "RunError",
      code: "disk_full",
      message: expect.stringContaining("raise sandbox.memory_mb"),
    });
  });

  test("a server of the engine in the image", async () => {
    const source = parseSourceConfig(
      "orders",
      {
        engine: "postgresql",
        connection: "env:X",
        sandbox: { kind: "container", image: `${MARIADB_IMAGE}:10.11` },
      },
      "/",
    );
    await expect(findSandbox(source, { engine_version: "15.1" })).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: `the image ${MARIADB_IMAGE}:10.11 lacks a PostgreSQL server or the user postgres to run it (exit code 3): set an image that has both under sandbox.image`,
    });
  });
});
