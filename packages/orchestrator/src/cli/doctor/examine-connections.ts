import { type Finding, warning } from "@attestore/host/finding";
import type { Config } from "../../platform/config/read-config.ts";
import type { ConnectionSettings } from "../../platform/database/connection-settings.ts";
import { mostConnections, readMaxConnections } from "../../service/database-connections.ts";

/**
 * A service opens connections as it needs them, so one that may have too few starts well and fails
 * under load. Says nothing if there are enough for one worker.
 */
export async function examineConnections(config: Config, service: ConnectionSettings): Promise<Finding[]> {
  const most = await readMaxConnections(service);
  const wanted = mostConnections(config, 0);
  if (most >= wanted) return [];
  return [
    warning(
      "connections",
      `The database lets the service have ${most} connections, and each of its workers opens up to ${wanted}.`,
      "Raise max_connections, or CONNECTION LIMIT of the role or the database; or set ATTESTORE_DATABASE_CONNECTIONS lower.",
    ),
  ];
}
