import { connectDatabase } from "../../platform/database/database.ts";
import { readServicePrivileges, SEPARATE_THEM } from "../../platform/database/service-privileges.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import type { ConnectionSettings } from "../../platform/database/connection-settings.ts";
import { type Finding, ok, warning } from "@attestore/host/finding";

/** The role that the service connects as, and what it may do beyond what the service needs. */
export async function examineRole(service: ConnectionSettings): Promise<Finding> {
  const access = connectDatabase({ connection: service, log: silentLogger, connections: 1 });
  try {
    const { role, excess } = await readServicePrivileges(access.pool);
    return excess.length === 0
      ? ok("role", `The service connects as ${role}, which owns nothing.`)
      : warning("role", `The service connects as ${role}, which ${excess.join(", ")}.`, SEPARATE_THEM);
  } finally {
    await access.close();
  }
}
