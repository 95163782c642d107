import { readFile } from "node:fs/promises";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { join } from "node:path";
import type { Pool } from "pg";
import { recordConsoleAction } from "../features/api-logs/console-row.ts";
import { findOrg, type Org } from "../features/orgs/store.ts";
import { BUILT_HERE } from "../features/downloads/download-routes.ts";
import { stopSetBackLogs } from "../log/heads/stop-set-back-logs.ts";
import { readSignedHeads } from "../log/checkpoints/signed-heads.ts";
import type { Config } from "../platform/config/read-config.ts";
import { readCommandConfig } from "../platform/config/served-address.ts";
import { CONSOLE_TIMEOUTS } from "../platform/database/pool-timeouts.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import type { Database, DatabaseTransaction } from "../platform/database/schema.ts";
import { notFound } from "../platform/errors/api-error.ts";
import type { Sealer } from "../platform/http/sealer.ts";
import { readIdentity, requireIdentity } from "../platform/keys/service-identity.ts";
import { openServiceKeys, type ServiceKeys } from "../platform/keys/service-keys.ts";
import { type Logger, silentLogger } from "../platform/logging/logger.ts";
import type { ObjectStore } from "../platform/objects/object-store.ts";
import { openConfiguredDatabase } from "../platform/postgres/open-database.ts";
import { objectStore } from "../service/open-objects.ts";
import { requireExisting } from "./require-existing.ts";

/** What a command works with. */
export interface Console {
  db: Database;
  /** The same database, for plain SQL. */
  pool: Pool;
  config: Config;
  /** The object store of the settings. */
  objects: ObjectStore;
  sealer: Sealer;
  /** First part of every log's origin. */
  logHost: string;
  publicUrl: string;
  /**
   * Certificate of the service's own CA; null with a certificate of the user's own, or before the
   * service's first start.
   */
  caPem: string | null;
  /** The directory with what hosts install. */
  downloads: string;
  /** By id or slug. Throws `not_found`. */
  org(idOrSlug: string): Promise<Org>;
  /**
   * Does something in one transaction with its API log row. First it marks logs that lack a signed
   * head, so that nothing is appended to them.
   */
  act<T>(command: string, work: (tx: DatabaseTransaction) => Promise<ConsoleDone<T>>): Promise<T>;
  close(): Promise<void>;
}

export interface ConsoleDone<T> {
  /** The organisation concerned; null for the service itself. */
  orgId: string | null;
  done: T;
}

/**
 * Opens the service's database with the settings of the environment: that of a service running on
 * the data directory, the embedded one for the duration of the command, or that of DATABASE_URL.
 * @param onNew whether a new data directory is set up as on a first start, and not refused
 */
export async function openConsole(
  environment: NodeJS.ProcessEnv = process.env,
  log: Logger = silentLogger,
  onNew = false,
): Promise<Console> {
  const config = await readCommandConfig(environment);
  if (!onNew) await requireExisting(config);
  const opened = await openConfiguredDatabase(config, { role: "command", log });
  const access = connectDatabase({
    connection: opened.connection,
    log,
    connections: 2,
    way: "console",
    timeouts: CONSOLE_TIMEOUTS,
  });
  let keys: ServiceKeys | null = null;
  const close = async (): Promise<void> => {
    await keys?.close();
    await access.close();
    await opened.close();
  };
  try {
    await migrate(opened.connection, log, undefined, opened);
    const before = await readIdentity(access.pool);
    keys = await openServiceKeys(config, before === null ? "create" : "refuse");
    const identity = await requireIdentity(access.pool, keys, config);
    const db = access.database;
    return {
      db,
      pool: access.pool,
      config,
      objects: objectStore(config, keys.objectUrls, log),
      sealer: keys.sealing.sealer,
      logHost: identity.log_host,
      publicUrl: config.publicUrl,
      caPem: config.tlsCertificate === undefined ? await ownCa(config.data) : null,
      downloads: config.downloads ?? BUILT_HERE,
      org: async (idOrSlug) => {
        const org = await findOrg(db, idOrSlug);
        if (org === null)
          throw notFound(`organisation as "${idOrSlug}"; attestore-server org list shows them`);
        return org;
      },
      act: async (command, work) => {
        // The service may be down, and so may not have found out yet.
        await stopSetBackLogs(access.pool, [
          ...(await readSignedHeads(join(config.data, "signed-heads"))).values(),
        ]);
        return db.transaction().execute(async (tx) => {
          const { orgId, done } = await work(tx);
          await recordConsoleAction(tx, { command, orgId });
          return done;
        });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function ownCa(data: string): Promise<string | null> {
  return nullIfMissing(readFile(join(data, "tls", "ca.pem"), "utf8"));
}
