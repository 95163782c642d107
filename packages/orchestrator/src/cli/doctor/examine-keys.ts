import { join } from "node:path";
import { errorMessage } from "@attestore/host/errno";
import type { Pool } from "pg";
import type { Config } from "../../platform/config/read-config.ts";
import { requireIdentity } from "../../platform/keys/service-identity.ts";
import { KeyTokenError } from "../../platform/keys/token/key-token-error.ts";
import { openServiceKeys } from "../../platform/keys/service-keys.ts";
import { failed, type Finding, ok } from "@attestore/host/finding";

/**
 * Whether the service's keys exist, only it can read them, and the database was written with them.
 */
export async function examineKeys(config: Config, pool: Pool): Promise<Finding> {
  const directory = join(config.data, "keys");
  try {
    const keys = await openServiceKeys(config, "refuse");
    try {
      const { log_host } = await requireIdentity(pool, keys, config);
      const token = config.pkcs11Module === undefined ? "" : " and in the token";
      return ok(
        "keys",
        `The keys in ${directory}${token} are the ones that the logs of ${log_host} were written with.`,
      );
    } finally {
      await keys.close();
    }
  } catch (error) {
    return failed(
      "keys",
      errorMessage(error),
      error instanceof KeyTokenError
        ? "Until then the service takes no receipts, and does not start. Agents keep theirs."
        : "Restore the right keys; without them the service does not start.",
    );
  }
}
