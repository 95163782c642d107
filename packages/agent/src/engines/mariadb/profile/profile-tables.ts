import { createHmac, randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { TableProfile } from "@attestore/proof";
import { MIN_ROWS } from "../../../checks/index.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { cutLines } from "../../../processes/cut-lines.ts";
import type { Profiling } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { READER } from "../copy/accounts.ts";
import { literal } from "../connection/session.ts";
import { ProfileRows } from "./profile-rows.ts";
import { type ProfiledTable, profileStatement } from "./profiled-tables.ts";

/** How many tables are profiled, the largest first. */
const MAX_TABLES = 200;
/** Rows are looked at for so long before something else gets its turn. */
const SLICE_MS = 5;

const ARGUMENTS = [
  `--user=${READER}`,
  "--batch",
  "--skip-column-names",
  // Otherwise the client would hold all rows in memory.
  "--quick",
  // A table that cannot be read does not keep the others from being read.
  "--force",
  "--binary-mode",
  "--skip-reconnect",
  "--default-character-set=utf8mb4",
  "--local-infile=0",
  "--loose-sandbox",
];

/** Smallest first, until the time is up. A table that cannot be read has no profile. */
export async function profileTables(
  server: ScratchServer,
  tables: readonly ProfiledTable[],
  { key, budget_ms, signal: asked }: Profiling,
): Promise<TableProfile[]> {
  if (budget_ms < 1) return [];
  const signal = AbortSignal.any([asked, AbortSignal.timeout(Math.floor(budget_ms))]);
  const wanted = tables
    .filter(({ rows, columns }) => rows >= MIN_ROWS && columns.length > 0)
    .toSorted((a, b) => b.rows - a.rows)
    .slice(0, MAX_TABLES)
    .toReversed()
    .map((table) => ({
      table,
      seed: createHmac("sha256", key).update(`profile ${table.name}`).digest().readUInt32BE() >>> 1,
    }));
  if (wanted.length === 0) return [];
  // No row can end a table early: it would have to know this.
  const mark = `end ${randomBytes(16).toString("hex")}`;
  const found: TableProfile[] = [];
  try {
    const child = await server.run("mariadb", { args: ARGUMENTS, signal });
    child.stdin.end(
      [
        "set session time_zone = '+00:00'",
        // Each product knows one of these. A client that is stopped leaves no query running.
        `set session max_statement_time = ${Math.ceil(budget_ms / 1000)}`,
        `set session max_execution_time = ${Math.ceil(budget_ms)}`,
        ...wanted.flatMap(({ table, seed }) => [
          `set @attestore = ${literal(profileStatement(table, seed))}`,
          "prepare attestore from @attestore",
          "execute attestore",
          `select concat('${mark} ', @@error_count)`,
        ]),
        "",
      ].join(";\n"),
    );
    let at = 0;
    let rows: ProfileRows | null = null;
    let sliceEnd = performance.now() + SLICE_MS;
    for await (const line of cutLines(child.stdout)) {
      if (performance.now() > sliceEnd) {
        await setImmediate();
        sliceEnd = performance.now() + SLICE_MS;
      }
      const sampled = wanted[at];
      if (sampled === undefined) break;
      if (!line.startsWith(mark)) {
        rows ??= new ProfileRows(sampled.table, sampled.seed);
        rows.add(line);
        continue;
      }
      const profile = line === `${mark} 0` ? rows?.end() : null;
      if (profile) found.push(profile);
      rows = null;
      at += 1;
    }
    await child.exited;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  stopIfAborted(asked);
  return found;
}
