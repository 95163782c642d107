import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { ForeignMetadata, Restored } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { RestoredPostgresql } from "../restored.ts";
import { runPgRestore } from "../restore/run-pg-restore.ts";

/**
 * Requires a dump of one database that pg_restore reads. Any other dump may itself name the
 * database that it goes into.
 * @throws RunError `sandbox_lacks`
 */
export function requireSingleDump({ dump_format: format }: ForeignMetadata): void {
  if (format === "pg_dump-custom") return;
  throw new RunError(
    "sandbox_lacks",
    "only a dump of one database can be restored into sandbox.database: use sandbox process or container",
  );
}

/**
 * Restores a dump into the database of a claimed server. From then on the server belongs to the
 * returned copy; after an error the database is emptied.
 * @throws RestoreRefused, RunError, and any error from the content.
 */
export async function restoreIntoDatabase(
  server: ScratchServer,
  database: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Restored> {
  try {
    const loaded = await runPgRestore(server, database, content, signal);
    return new RestoredPostgresql(server, database, null, null, loaded);
  } catch (error) {
    await server.close();
    stopIfAborted(signal);
    throw error;
  }
}
