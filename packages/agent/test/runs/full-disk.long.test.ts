/** File systems that really fill up: small ones in memory, which takes root to mount. */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SourceConfig } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { makeClustersAnew } from "../../../../tools/test/cluster-maker.ts";
import { SmallDisk } from "../../../host/test/small-disk.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

const never = new AbortController().signal;
let place: TestPlace;
let server: SourcePostgres;
let small = "";
let disk: SmallDisk;

beforeAll(async () => {
  // It is initdb that fills the disk up.
  makeClustersAnew();
  place = await makeTestPlace();
  small = join(place.dir, "small");
  server = await startSourcePostgres(place.dir);
  // 60 MB, which compress to little.
  server.sql("create table large as select i, repeat('x', 500) as x from generate_series(1, 100000) i");
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
});
afterEach(async () => {
  disk[Symbol.dispose]();
  await rm(small, { recursive: true });
});

async function mount(mib: number): Promise<void> {
  await mkdir(small);
  disk = new SmallDisk(small, { bytes: mib << 20, mode: "0755" });
}

const back = (
  source: SourceConfig,
  more: { blobsDir?: string; scratchDir?: string } = {},
): Promise<MadeBackup> =>
  writeEncryptedDump({
    source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    signal: never,
    ...more,
  });

const leftIn = (path: string): Promise<string[]> => readdir(path, { recursive: true });

describe("PostgreSQL", () => {
  // initdb itself needs some 40 MB, and its first WAL segment 16.
  test.each([
    ["where the server is made", 20],
    ["where the rows go", 75],
  ])("a restore test on a disk that fills up %s is no result", async (_, mib) => {
    const made = await back(server.source);
    await mount(mib);
    const tested = restoreAndCheck({
      source: server.source,
      ciphertext: { path: made.path },
      sha256: made.sha256,
      identities: [place.identity],
      scratchDir: small,
      backupMetadata: made.sourceMetadata,
      signal: never,
    });
    await expect(tested).rejects.toMatchObject({ name: "RunError", code: "disk_full" });
    expect(await leftIn(small)).toEqual([]);
  });

  test("a backup to a disk that fills up leaves nothing", async () => {
    server.sql(
      "create table if not exists noise as select md5(i::text) || md5((i + 1)::text) as x from generate_series(1, 50000) i",
    );
    await mount(1);
    await expect(back(server.source, { blobsDir: join(small, "blobs") })).rejects.toMatchObject({
      code: "disk_full",
    });
    expect(await leftIn(small)).toEqual(["blobs"]);
  });
});

describe("SQLite", () => {
  function source(): SourceConfig {
    const path = join(place.dir, "shop.sqlite");
    const database = new DatabaseSync(path);
    database.exec(`create table if not exists items (name text);
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) insert into items select hex(zeroblob(500)) from n`);
    database.close();
    return { slug: "shop", engine: "sqlite", sandbox: "process", checkTimeout_s: 30, checks: [], path };
  }

  test("a backup without room for the copy leaves nothing", async () => {
    const shop = source();
    await mount(1);
    await expect(back(shop, { scratchDir: small })).rejects.toMatchObject({ code: "disk_full" });
    expect(await leftIn(small)).toEqual([]);
  });

  test("a restore test without disk space has no result", async () => {
    const shop = source();
    const made = await back(shop);
    await mount(1);
    const tested = restoreAndCheck({
      source: shop,
      ciphertext: { path: made.path },
      sha256: made.sha256,
      identities: [place.identity],
      scratchDir: small,
      backupMetadata: made.sourceMetadata,
      signal: never,
    });
    await expect(tested).rejects.toMatchObject({ code: "disk_full" });
    expect(await leftIn(small)).toEqual([]);
  });
});
