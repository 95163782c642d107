import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/platform/logging/logger.ts";
import type { ConnectionSettings } from "../../src/platform/database/connection-settings.ts";
import { openDatabase, type OpenDatabase } from "../../src/platform/postgres/open-database.ts";
import { connectDatabase } from "../../src/platform/database/database.ts";
import type { DatabaseAccess } from "../../src/platform/database/database.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { letServiceIn } from "../../src/platform/database/roles.ts";
import type { Database } from "../../src/platform/database/schema.ts";
import { testCluster } from "./test-cluster.ts";

export interface TestDatabase extends DatabaseAccess {
  /** As the owner, who sees all rows: for what tests put there and look at. */
  connection: ConnectionSettings;
  /** As the running service connects. */
  service: ConnectionSettings;
  /** As what runs by the clock works. */
  byClock: Database;
}

/**
 * For tests: puts a cluster without a row, migrated and shut down in order, into a data directory
 * that has none. It is a copy of one that is made once, and again when what makes it has changed:
 * initdb and all migrations are most of the work of a start.
 */
export async function putTestCluster(dataDirectory: string): Promise<void> {
  const cluster = await testCluster();
  if (await cluster.copyTo(dataDirectory)) return;
  const opened = await migratedDatabase(dataDirectory);
  await opened.close();
  await cluster.keep(dataDirectory);
}

async function migratedDatabase(dataDirectory: string): Promise<OpenDatabase> {
  const opened = await openDatabase({ dataDirectory, role: "serve", log: silentLogger });
  await migrate(opened.connection, silentLogger, undefined, opened);
  await letServiceIn(opened.connection);
  return opened;
}

/**
 * For tests: a real server of one's own, migrated and empty, in a directory that `close` removes.
 * Takes about a second.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "attestore-test-"));
  await chmod(dataDirectory, 0o711);
  await putTestCluster(dataDirectory);
  const opened = await migratedDatabase(dataDirectory);
  const access = connectDatabase({ connection: opened.connection, log: silentLogger });
  const clock = connectDatabase({ connection: opened.service, log: silentLogger, way: "jobs" });
  const close = async (): Promise<void> => {
    await clock.close();
    await access.close();
    await opened.close();
    await rm(dataDirectory, { recursive: true, force: true });
  };
  const { connection, service } = opened;
  return { ...access, connection, service, byClock: clock.database, close };
}
