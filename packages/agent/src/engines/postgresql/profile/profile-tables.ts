import { createHmac, randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { TableProfile } from "@attestore/proof";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { cutLines } from "../../../processes/cut-lines.ts";
import { stopWhen } from "../../../processes/stop-when.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { ProfileRows } from "./profile-rows.ts";
import { type ProfiledTable, profileStatement } from "./profiled-tables.ts";

/** At most this many tables are profiled, the largest ones. */
const MAX_TABLES = 200;
/** After this long over rows, the event loop gets its turn. */
const SLICE_MS = 5;
/** One psql gets at most this many bytes of arguments. */
const MAX_BATCH_BYTES = 60_000;

const OPTIONS = [
  "default_transaction_read_only=on",
  "search_path=pg_catalog",
  "row_security=off",
  "datestyle=ISO",
  "timezone=UTC",
  "extra_float_digits=1",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

export interface ProfileRequest {
  readonly server: ScratchServer;
  readonly environment: Readonly<Record<string, string>>;
  /** The largest first. */
  readonly tables: readonly ProfiledTable[];
  /** Decides which rows are read: nobody at the source can know them. */
  readonly key: Buffer;
  readonly budget_ms: number;
  readonly signal: AbortSignal;
}

/** Smallest first, until the time is up. A table that cannot be read has no profile. */
export async function profileTables(request: ProfileRequest): Promise<TableProfile[]> {
  const { budget_ms } = request;
  const time = budget_ms < 1 ? AbortSignal.abort() : AbortSignal.timeout(Math.floor(budget_ms));
  const found: TableProfile[] = [];
  const wanted = request.tables
    .filter(({ bytes, columns }) => bytes > 0 && columns.length > 0)
    .slice(0, MAX_TABLES)
    .toReversed();
  for (const batch of batchesOf(wanted, request.key)) {
    if (time.aborted) break;
    found.push(...(await profileBatch(batch, request, time)));
  }
  stopIfAborted(request.signal);
  return found;
}

interface Sampled {
  readonly table: ProfiledTable;
  readonly statement: string;
}

function batchesOf(tables: readonly ProfiledTable[], key: Buffer): Sampled[][] {
  const batches: Sampled[][] = [];
  let room = 0;
  for (const table of tables) {
    const seed = createHmac("sha256", key).update(`profile ${table.name}`).digest().readUInt32BE() >>> 1;
    const statement = profileStatement(table, seed);
    const bytes = Buffer.byteLength(statement) + 200;
    if (bytes > MAX_BATCH_BYTES) continue;
    if (bytes > room) {
      batches.push([]);
      room = MAX_BATCH_BYTES;
    }
    batches.at(-1)?.push({ table, statement });
    room -= bytes;
  }
  return batches;
}

async function profileBatch(
  batch: readonly Sampled[],
  { server, environment, signal }: ProfileRequest,
  time: AbortSignal,
): Promise<TableProfile[]> {
  // No row can end a table early: it would have to know this.
  const mark = `end ${randomBytes(16).toString("hex")}`;
  const child = await server.run("psql", {
    args: [
      "--no-psqlrc",
      "--quiet",
      "--no-password",
      "--set=VERBOSITY=sqlstate",
      ...batch.flatMap(({ statement }) => [`--command=${statement}`, `--command=\\echo ${mark} :ERROR`]),
    ],
    env: { ...environment, PGCLIENTENCODING: "UTF8", PGOPTIONS: OPTIONS },
    signal,
  });
  const ended = stopWhen(time, child);
  child.stdin.end();
  const found: TableProfile[] = [];
  let at = 0;
  let rows: ProfileRows | null = null;
  let sliceEnd = performance.now() + SLICE_MS;
  try {
    for await (const line of cutLines(child.stdout)) {
      if (performance.now() > sliceEnd) {
        await setImmediate();
        sliceEnd = performance.now() + SLICE_MS;
      }
      const sampled = batch[at];
      if (sampled === undefined) break;
      if (!line.startsWith(mark)) {
        rows ??= new ProfileRows(sampled.table);
        rows.add(line);
        continue;
      }
      const profile = line === `${mark} false` ? rows?.end() : null;
      if (profile) found.push(profile);
      rows = null;
      at += 1;
    }
  } catch (error) {
    if (!signal.aborted && !time.aborted) throw error;
  }
  await child.exited;
  ended();
  return found;
}
