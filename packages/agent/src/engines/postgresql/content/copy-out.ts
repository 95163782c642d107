import { text } from "node:stream/consumers";
import { largeWrites } from "../../../processes/large-writes.ts";
import type { RunProgram } from "../../../processes/run-program.ts";
import type { ContentSettings } from "./describe-content.ts";
import { LARGE_OBJECT_LINES } from "./large-object-digest.ts";
import { type CatalogueTable, LARGE_OBJECTS, type ValueSettings } from "./tables.ts";

/** So many tables by one psql, and no more bytes of arguments than every system takes. */
const MAX_BATCH = 64;
const MAX_BATCH_BYTES = 60_000;

/**
 * What sha256sum says of the table with that number, and what psql says of its COPY. These may come
 * in any order.
 */
const DIGEST = /^([0-9a-f]{64}) {2}-\n([0-9]+)$/gm;
const COPIED = /^([0-9]+) false$/gm;

export interface CopyOut {
  readonly run: RunProgram;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: ContentSettings;
  readonly signal: AbortSignal;
}

/**
 * The tables in their order, cut into what one psql copies. A table whose columns have no room in
 * an argument is left out.
 */
export function batchesOf(tables: readonly CatalogueTable[]): CatalogueTable[][] {
  const batches: CatalogueTable[][] = [];
  let room = 0;
  for (const table of tables) {
    const bytes = Buffer.byteLength(copyStatement(table)) + 200;
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
 * SHA-256 in hex of what COPY gives of each table, with the settings of the dump's session. A table
 * that could not be copied to its end, because the signal fired or for another reason, is not in
 * it.
 *
 * Names of others go to psql as arguments: one that does not begin with a backslash is SQL to its
 * end, and nothing of psql's is looked for in it.
 */
export async function copyDigests(
  tables: readonly CatalogueTable[],
  { run, environment, settings, signal }: CopyOut,
): Promise<Map<CatalogueTable, string>> {
  const digests = new Map<CatalogueTable, string>();
  const args = [
    "--no-psqlrc",
    "--quiet",
    "--no-password",
    "--set=VERBOSITY=sqlstate",
    // The rows go from psql to sha256sum: two processes of ours would take four times as long for
    // them.
    ...tables.flatMap((table, index) => [
      `--command=\\o |sha256sum; echo ${index}`,
      `--command=${copyStatement(table)}`,
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
      PGCLIENTENCODING: settings.client_encoding,
      PGOPTIONS: optionsOf(settings),
    },
    signal,
  });
  child.stdin.end();
  // It may be stopped for want of time: what ended before counts.
  const output = await text(child.stdout).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return "";
  });
  await child.exited;
  const copied = new Set([...output.matchAll(COPIED)].map(([, index]) => index));
  for (const [, sha256 = "", index = ""] of output.matchAll(DIGEST)) {
    const table = tables[Number(index)];
    if (table !== undefined && copied.has(index)) digests.set(table, sha256);
  }
  return digests;
}

function copyStatement({ name, schema, table, columns }: CatalogueTable): string {
  if (name === LARGE_OBJECTS) return `copy (${LARGE_OBJECT_LINES}) to stdout`;
  const list = columns.length === 0 ? "" : ` (${columns.map(quoted).join(", ")})`;
  return `copy ${quoted(schema)}.${quoted(table)}${list} to stdout`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** As pg_dump sets them for itself, and as the dump's session had them. */
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
