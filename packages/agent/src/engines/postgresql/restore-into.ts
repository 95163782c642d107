import { stopIfAborted } from "../../errors/run-error.ts";
import { type ForeignMetadata, type Restored, RestoreRefused } from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { DumpReader } from "./content/dump-reader.ts";
import { type ReadDeclared, readDeclared } from "./declared/read-declared.ts";
import { wantedOf } from "./restore/wanted-of-dump.ts";
import { captureTail } from "../capture-tail.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { LOADING_ROLE } from "./database/loading-role.ts";
import { dropWhatSourceLacks, prepareDatabase } from "./database/prepare-database.ts";
import { restorePlain } from "./restore/restore-plain.ts";
import { RestoredPostgresql } from "./restored.ts";
import { type Loaded, NOTHING_KNOWN, runPgRestore } from "./restore/run-pg-restore.ts";
import { SET_FORMAT } from "./set/describe-set.ts";
import { restoreSet } from "./set/restore-set.ts";

const DATABASE = "restored";
const PLAIN = "pg_dump-plain";

/**
 * Restores a dump into an empty scratch server, with several jobs only if it is next to the server
 * already; `content` is then not read. From then on the server belongs to the returned
 * copy; after an error it is closed.
 * @throws RestoreRefused, RunError, and any error from the content.
 */
export async function restoreInto(
  server: ScratchServer,
  metadata: ForeignMetadata,
  content: AsyncIterable<Buffer>,
  { signal, jobs = 1, readsDump }: RunContext & { readonly jobs?: number },
): Promise<Restored> {
  let reader: DumpReader | null = null;
  let schema: ReadDeclared | null = null;
  try {
    if (metadata["dump_format"] === SET_FORMAT) return await restoreSet(server, metadata, content, signal);
    await prepareDatabase(server, DATABASE, metadata, signal);
    const format = metadata["dump_format"];
    if (readsDump === true) {
      const reading = { isPlain: format === PLAIN, run: server.run, signal };
      reader = await DumpReader.start(content, reading);
      schema = await readDeclared(reader.content, reading);
    }
    const loaded = await restoreOf(format)(server, DATABASE, schema?.content ?? content, signal, {
      jobs,
      wanted: wantedOf(metadata),
    });
    await dropWhatSourceLacks(server, DATABASE, metadata, signal);
    const held = { content: (await reader?.end()) ?? null, schema: (await schema?.end()) ?? null };
    const dump = readsDump === true ? held : null;
    return new RestoredPostgresql(server, DATABASE, null, LOADING_ROLE, loaded, dump);
  } catch (error) {
    await server.close();
    stopIfAborted(signal);
    throw error;
  } finally {
    await schema?.close();
    await reader?.close();
  }
}

function restoreOf(format: unknown): typeof runPgRestore {
  if (format === PLAIN) return restoreSql;
  return format === "pg_dump-tar" ? restoreTar : runPgRestore;
}

/**
 * Only the dump's maker knows how it fills its tables, so nothing is known about the order of rows.
 */
async function restoreSql(
  ...[server, database, content, signal]: Parameters<typeof runPgRestore>
): Promise<Loaded> {
  await restorePlain(server, database, content, signal);
  return NOTHING_KNOWN;
}

/** pg_restore accepts an archive without its end, as long as it finds the tables. */
async function restoreTar(
  ...[server, database, content, signal]: Parameters<typeof runPgRestore>
): Promise<Loaded> {
  const end = captureTail(content);
  const loaded = await runPgRestore(server, database, end.content, signal);
  if (!/^\0{1024}$/.test(end.last())) throw new RestoreRefused("the archive ends too early");
  return loaded;
}
