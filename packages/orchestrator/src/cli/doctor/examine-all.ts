import { access } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "@attestore/host/errno";
import type { Config } from "../../platform/config/read-config.ts";
import { connectDatabase, type DatabaseAccess } from "../../platform/database/database.ts";
import { readIdentity, type ServiceIdentity } from "../../platform/keys/service-identity.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { openConfiguredDatabase, type OpenDatabase } from "../../platform/postgres/open-database.ts";
import { logIdentityOf } from "../../log/checkpoints/log-identity.ts";
import { examineBackup } from "./examine-backup.ts";
import { examineAuthority, examineCertificate } from "./examine-certificate.ts";
import { appliedMigrations, examineClock, examineDatabase, examineStandbys } from "./examine-database.ts";
import { examineDisk } from "./examine-disk.ts";
import { examineHeads } from "./examine-heads.ts";
import { examineInstallation } from "./examine-installation.ts";
import { examineKeys } from "./examine-keys.ts";
import { examineMail } from "./examine-mail.ts";
import { examineObjects } from "./examine-objects.ts";
import { examinePasskeys } from "./examine-passkeys.ts";
import { examineRole } from "./examine-role.ts";
import { WITH_SETTINGS } from "../require-existing.ts";
import { examineConnections } from "./examine-connections.ts";
import { examineService } from "./examine-service.ts";
import { examineWitnesses } from "./examine-witnesses.ts";
import { failed, type Finding, skipped } from "@attestore/host/finding";

/** The migration that created the service's roles. */
const SERVICE_ROLES = 49;

/**
 * Everything, one after the other. Whatever throws becomes a finding, so that the rest is checked
 * too.
 */
export async function examineAll(config: Config): Promise<Finding[]> {
  if (!(await exists(config.data)))
    return [
      skipped(
        "data",
        `${config.data} does not exist yet: the first start creates it. If a service runs on this machine, ${WITH_SETTINGS}`,
      ),
      ...(await guarded("smtp", async () => [await examineMail(config.smtpUrl)])),
    ];
  const service = await guarded("service", async () => [await examineService(config)]);
  const isServing = service.some(({ level }) => level === "ok");
  return [
    ...service,
    ...(await guarded("disk", () => examineDisk(config.data))),
    ...(await guarded("database", () => examineData(config, isServing))),
    ...(await guarded("objects", async () => [await examineObjects(config)])),
    ...(await guarded("tls", () => examineCertificate(config, new Date()))),
    ...(await guarded("smtp", async () => [await examineMail(config.smtpUrl)])),
  ];
}

async function guarded(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [failed(check, errorMessage(error), "Fix that, and run this again.")];
  }
}

async function examineData(config: Config, isServing: boolean): Promise<Finding[]> {
  const isEmbedded = config.databaseUrl === undefined;
  // Opening it would create a new one, which a check must not do.
  if (isEmbedded && !(await exists(join(config.data, "postgres", "data"))))
    return [skipped("database", "There is none yet: the first start creates it.")];
  const opened = await openConfiguredDatabase(config, { role: "command", log: silentLogger });
  const access = connectDatabase({ connection: opened.connection, log: silentLogger, connections: 1 });
  try {
    return [
      ...(await examineDatabase(access.pool)),
      ...(await guarded("standbys", () => examineStandbys(access.pool))),
      ...(isEmbedded ? [] : await guarded("connections", () => examineConnections(config, opened.service))),
      ...(await examineServiceRole(access, opened)),
      ...(await examineRecords(config, access, isServing)),
      ...(await guarded("backup", async () => [await examineBackup(config, access.pool, new Date())])),
    ];
  } finally {
    await access.close();
    await opened.close();
  }
}

/** Not before the migrations created it. */
async function examineServiceRole({ pool }: DatabaseAccess, { service }: OpenDatabase): Promise<Finding[]> {
  const applied = (await appliedMigrations(pool)) ?? [];
  if (!applied.some(({ version }) => version === SERVICE_ROLES)) return [];
  return guarded("role", async () => [await examineRole(service)]);
}

async function examineRecords(
  config: Config,
  { pool, database }: DatabaseAccess,
  isServing: boolean,
): Promise<Finding[]> {
  const identity: ServiceIdentity | null =
    (await appliedMigrations(pool)) === null ? null : await readIdentity(pool);
  if (identity === null)
    return [skipped("log", "There are none yet: the first start creates the service's keys.")];
  return [
    ...(await guarded("clock", async () => [await examineClock(pool)])),
    ...(await guarded("keys", async () => [await examineKeys(config, pool)])),
    ...(await guarded("authority", () => examineAuthority(config, pool))),
    ...(await guarded("passkeys", async () => [await examinePasskeys(config.publicUrl, database)])),
    ...(await guarded("log", () => examineHeads(pool, logIdentityOf(identity), isServing))),
    ...(await guarded("witness", () => examineWitnesses(pool))),
    ...(await guarded("installation", () => examineInstallation(config, pool, database))),
  ];
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
