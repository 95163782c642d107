import { stat } from "node:fs/promises";
import { join } from "node:path";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { Config } from "../platform/config/read-config.ts";
import { UserError } from "../platform/errors/user-error.ts";
import { isHalfUpgraded } from "../platform/postgres/open-database.ts";

/**
 * How to run a command with the settings of the unit in packaging/server. Whoever is root there and
 * types only the command's name has none of them.
 */
export const WITH_SETTINGS =
  "run it with the service's settings. Under systemd, as root: env $(systemctl show -P Environment attestore-server) /opt/attestore-server/attestore-server COMMAND. See docs/operate.md, Commands.";

/**
 * Without this, a command in the wrong directory would make a new database there and find that
 * nothing is wrong with it.
 */
export async function requireExisting({ data, databaseUrl }: Config): Promise<void> {
  if (databaseUrl !== undefined || (await isHalfUpgraded(data))) return;
  if ((await nullIfMissing(stat(join(data, "postgres")))) !== null) return;
  throw new UserError(
    "data_directory",
    `${data} (ATTESTORE_DATA) has no service's database. If a service runs on this machine, ${WITH_SETTINGS}`,
  );
}
