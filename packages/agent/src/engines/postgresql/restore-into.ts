import { stopIfAborted } from "../../runs/could-not-run.ts";
import type { ForeignMetadata, Restored, RunContext } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { prepareDatabase } from "./prepare-database.ts";
import { RestoredPostgresql } from "./restored.ts";
import { runPgRestore } from "./run-pg-restore.ts";
import { SET_FORMAT } from "./set/describe-set.ts";
import { restoreSet } from "./set/restore-set.ts";

const DATABASE = "restored";

/**
 * Restores a dump into an empty scratch server, which from then on belongs to what is returned; on an error it is closed.
 * @throws RestoreRefused, CouldNotRun, and whatever the content throws.
 */
export async function restoreInto(
  server: ScratchServer,
  metadata: ForeignMetadata,
  content: AsyncIterable<Buffer>,
  { signal }: RunContext,
): Promise<Restored> {
  try {
    if (metadata["dump_format"] === SET_FORMAT) return await restoreSet(server, metadata, content, signal);
    await prepareDatabase(server, DATABASE, metadata, signal);
    await runPgRestore(server, DATABASE, content, signal);
    return new RestoredPostgresql(server, DATABASE);
  } catch (error) {
    await server.close();
    stopIfAborted(signal);
    throw error;
  }
}
