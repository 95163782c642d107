import { text } from "node:stream/consumers";
import { largeWrites } from "../../../processes/large-writes.ts";
import type { RunProgram } from "../../../processes/run-program.ts";
import { stopWhen } from "../../../processes/stop-when.ts";
import type { ContentSettings } from "./describe-content.ts";
import { LARGE_OBJECT_LINES } from "./large-object-digest.ts";
import { sha256Command } from "./sha256-command.ts";
import { type CatalogueTable, LARGE_OBJECTS, type ValueSettings } from "./tables.ts";
import { quotedName } from "../../quoted-name.ts";

/**
 * One psql gets at most this many tables, and no more bytes of arguments than every system accepts.
 */
const MAX_BATCH = 64;
const MAX_BATCH_BYTES = 60_000;

/**
 * The output of `sha256Command` for the table with that number, and psql's output of its COPY, in
 * any order.
 */
const DIGEST = /^([0-9a-f]{64}) [ *](?:-|stdin)\n([0-9]+)$/gm;
const COPIED = /^([0-9]+) false$/gm;

export interface CopyOut {
  readonly run: RunProgram;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: ContentSettings;
  readonly signal: AbortSignal;
  /** Ends the copying. Tables that were copied before it fires count. */
  readonly time: AbortSignal;
}

/**
 * Groups the tables, in their order, for one psql each. Leaves out a table whose columns do not fit
 * into an argument.
 */
export function batchesOf(tables: readonly CatalogueTable[]): CatalogueTable[][] {
  const batches: CatalogueTable[][] = [];
  let room = 0;
  for (const table of tables) {
    const bytes = Buffer.byteLength(copyStatement(table, "")) + 500;
    if (bytes > MAX_BATCH_BYTES) continue;
    const last = batches.at(-1);
    if (last === undefined || last.length === MAX_BATCH || bytes > room) {
      batches.push([table]);
      room = MAX_BATCH_BYTES - bytes;
    } else {
      last.push(table);
      room -= bytes;
    }
  }
  return batches;
}

/**
 * SHA-256 in hex of each table's COPY output, with the settings of the dump's session. Leaves out a
 * table that could not be copied to its end, because the time is up or for another reason.
 * Foreign names reach psql as arguments. An argument that does not begin with a backslash is SQL to
 * its end, and psql looks for no commands in it.
 */
export async function copyDigests(
  tables: readonly CatalogueTable[],
  { run, environment, settings, signal, time }: CopyOut,
): Promise<Map<CatalogueTable, string>> {
  const digests = new Map<CatalogueTable, string>();
  const args = [
    "--no-psqlrc",
    "--quiet",
    "--no-password",
    "--set=VERBOSITY=sqlstate",
    // The rows go from psql to the program that hashes them. With two processes of ours in
    // between, they would take four times as long.
    ...tables.flatMap((table, index) => [
      `--command=\\o |${sha256Command(table.bytes)}; echo ${index}`,
      `--command=${copyStatement(table, settings.client_encoding)}`,
      "--command=\\o",
      `--command=\\echo ${index} :ERROR`,
    ]),
  ];
  const child = await run("psql", {
    args,
    env: {
      ...environment,
      ...(await largeWrites()),
      PGTZ: "UTC",
      PGCLIENTENCODING: "UTF8",
      PGOPTIONS: optionsOf(settings),
    },
    signal,
  });
  const ended = stopWhen(time, child);
  child.stdin.end();
  const output = await text(child.stdout).catch((error: unknown) => {
    if (!signal.aborted && !time.aborted) throw error;
    return "";
  });
  await child.exited;
  ended();
  const copied = new Set([...output.matchAll(COPIED)].map(([, index]) => index));
  for (const [, sha256 = "", index = ""] of output.matchAll(DIGEST)) {
    const table = tables[Number(index)];
    if (table !== undefined && copied.has(index)) digests.set(table, sha256);
  }
  return digests;
}

/**
 * The rows are in the dump's encoding. The names in the statement are in UTF-8, as all our texts.
 */
function copyStatement({ name, schema, table, columns }: CatalogueTable, encoding: string): string {
  const to = `to stdout (encoding '${encoding}')`;
  if (name === LARGE_OBJECTS) return `copy (${LARGE_OBJECT_LINES}) ${to}`;
  const list = columns.length === 0 ? "" : ` (${columns.map(quotedName).join(", ")})`;
  return `copy ${quotedName(schema)}.${quotedName(table)}${list} ${to}`;
}

/** The settings that pg_dump makes for itself, and those of the dump's session. */
function optionsOf({ bytea_output, quote_all_identifiers }: ValueSettings): string {
  return [
    "default_transaction_read_only=on",
    "search_path=pg_catalog",
    "datestyle=ISO",
    "intervalstyle=postgres",
    "extra_float_digits=3",
    "synchronize_seqscans=off",
    `bytea_output=${bytea_output === "escape" ? "escape" : "hex"}`,
    `quote_all_identifiers=${quote_all_identifiers === "on" ? "on" : "off"}`,
  ]
    .map((setting) => `-c ${setting}`)
    .join(" ");
}
