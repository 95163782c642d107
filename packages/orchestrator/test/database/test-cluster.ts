import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { clusterDirectory } from "../../src/platform/postgres/cluster.ts";

const run = promisify(execFile);

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const CACHE = here("../../../../node_modules/.cache/attestore-test-cluster");
const MIGRATIONS = "../../src/platform/database/migrations";
/** What decides what an empty cluster holds, besides the programs that make it. */
const MAKERS = [
  "../../src/platform/database/migrate.ts",
  "../../src/platform/database/roles.ts",
  "./test-database.ts",
  "../../src/platform/postgres/cluster.ts",
  "../../src/platform/postgres/binaries.ts",
];

/**
 * For tests: an empty cluster, migrated and shut down in order. Whoever starts a service or a
 * database copies it rather than waiting for initdb and for all migrations, which is most of the
 * work of a start. It is made once, and again when what makes it has changed.
 */
export interface TestCluster {
  /** Puts a copy into a data directory that has none. False: there is nothing yet to be copied. */
  copyTo(dataDirectory: string): Promise<boolean>;
  /** Keeps that of a data directory whose server has been stopped. */
  keep(dataDirectory: string): Promise<void>;
}

export async function testCluster(): Promise<TestCluster> {
  const kept = join(CACHE, await digestOfMakers());
  return {
    copyTo: async (dataDirectory) => {
      if (!existsSync(kept)) return false;
      const home = join(dataDirectory, "postgres");
      await mkdir(home, { mode: process.geteuid?.() === 0 ? 0o711 : 0o700 });
      await copy(clusterDirectory(kept), clusterDirectory(home));
      return true;
    },
    keep: async (dataDirectory) => {
      await mkdir(CACHE, { recursive: true });
      const made = await mkdtemp(join(CACHE, "unfinished-"));
      await copy(clusterDirectory(join(dataDirectory, "postgres")), clusterDirectory(made));
      // Whole under its name. Another test may have been faster: its cluster is as good.
      await rename(made, kept).catch(() => rm(made, { recursive: true, force: true }));
    },
  };
}

/** Owners and times too. */
async function copy(from: string, to: string): Promise<void> {
  await run("cp", ["-a", "--reflink=auto", from, to]);
}

async function digestOfMakers(): Promise<string> {
  const migrations = (await readdir(here(MIGRATIONS))).toSorted().map((name) => `${MIGRATIONS}/${name}`);
  const digest = createHash("sha256").update(`${process.geteuid?.() ?? ""}\n`);
  for (const path of [...MAKERS, ...migrations])
    digest.update(`${path}\n`).update(await readFile(here(path)));
  digest.update(await readFile(here("../../../../package-lock.json")));
  return digest.digest("hex").slice(0, 16);
}
