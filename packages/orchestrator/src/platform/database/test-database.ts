import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../logging/logger.ts";
import type { ConnectionSettings } from "../postgres/connection-settings.ts";
import { openDatabase } from "../postgres/open-database.ts";
import { connectDatabase } from "./database.ts";
import type { DatabaseAccess } from "./database.ts";
import { migrate } from "./migrate.ts";

export interface TestDatabase extends DatabaseAccess {
  connection: ConnectionSettings;
}

/** For tests: a real server of one's own, migrated and empty, in a directory that `close` removes. Takes about a second. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "attestore-test-"));
  await chmod(dataDirectory, 0o711);
  const opened = await openDatabase({ dataDirectory, role: "serve", log: silentLogger });
  await migrate(opened.connection, silentLogger);
  const access = connectDatabase({ connection: opened.connection, log: silentLogger });
  const close = async (): Promise<void> => {
    await access.close();
    await opened.close();
    await rm(dataDirectory, { recursive: true, force: true });
  };
  return { ...access, connection: opened.connection, close };
}
