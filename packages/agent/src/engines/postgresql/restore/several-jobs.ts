import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import type { ForeignMetadata } from "../../engine.ts";
import type { Place } from "../../../sandboxes/place.ts";
import { tableCountOf, tablesOfMetadata } from "../../tables-of-metadata.ts";
import { majorOf } from "../connection/version.ts";

/** Each is a connection that loads one table or builds one index. */
const MAX_JOBS = 4;
/** Of a smaller dump, starting them takes as long as they save. */
const LEAST_BYTES = 32 << 20;
/** From this version on, several jobs read a custom dump that was written to a pipe. */
const LEAST_MAJOR = 14;
/**
 * Several jobs wait until the whole dump is on the disk, and at the end for the table with the most
 * rows. Beyond this share of all rows, loading one table after the other takes no longer.
 */
const MAX_SHARE = 0.5;
/**
 * A dump with more has too many statements for one transaction, and with one job alone its rows
 * would not keep their order.
 */
const MANY_TABLES = 1_000;
/** Enough for a scratch server. */
const MAX_JOBS_OF_FILES = 8;
/** Free space, in sizes of the dump: itself, and the database made from it with all indexes. */
const ROOM = 8;

/**
 * With how many jobs a dump is best restored, if there is room; 1 if it is best loaded while it is
 * decrypted.
 */
export function jobsFor(
  metadata: ForeignMetadata,
  {
    cores = availableParallelism(),
    engine_version,
  }: { readonly cores?: number; readonly engine_version: string },
): number {
  const bytes = plaintextBytesOf(metadata);
  if (metadata["dump_format"] !== "pg_dump-custom" || bytes === null) return 1;
  if (majorOf(engine_version) < LEAST_MAJOR) return 1;
  if (tableCountOf(metadata) > MANY_TABLES) return Math.max(2, Math.min(MAX_JOBS, cores));
  if (bytes < LEAST_BYTES) return 1;
  const rows = tablesOfMetadata(metadata).map((table) => Number(table.rows ?? NaN));
  const all = rows.reduce((sum, each) => sum + each, 0);
  // Also false if a table was not counted.
  const isShared = rows.length > 1 && Math.max(...rows) <= MAX_SHARE * all;
  return isShared ? Math.min(MAX_JOBS, cores) : 1;
}

/** The same for a dump in directory format: never one, which would not keep the order of rows. */
export function jobsForFiles(cores = availableParallelism()): number {
  return Math.max(2, Math.min(MAX_JOBS_OF_FILES, cores));
}

/** As the backup's maker signed it. */
export function plaintextBytesOf({ plaintext_size_bytes: bytes }: ForeignMetadata): number | null {
  return typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null;
}

/** Whether the dump fits on the disk beside the server that it is restored into. */
export async function hasRoom(place: Place, bytes: number, signal: AbortSignal): Promise<boolean> {
  const args = ["--file-system", "--format=%a %S", "--", place.home];
  const child = await place.start({ command: "stat", args, signal }).catch(() => null);
  if (child === null) return false;
  child.stdin.end();
  const [, blocks = "0", size = "0"] = /^([0-9]+) ([0-9]+)\n$/.exec(await text(child.stdout)) ?? [];
  return Number(blocks) * Number(size) >= ROOM * bytes;
}
