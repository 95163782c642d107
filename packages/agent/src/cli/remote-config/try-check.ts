import type { ConfigRequest, ConfigResult } from "@attestore/contract";
import type { BackupBackend } from "../../backends/backup-backend.ts";
import { parseTimestamp } from "../../checks/index.ts";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { listColumns } from "../../engines/index.ts";
import type { Measurables } from "../../engines/measurable.ts";
import { RunError } from "../../errors/run-error.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { downloadAndTest } from "../restore-test/download-and-test.ts";
import { clipped } from "./clipped.ts";
import { measuredCheck } from "./measured-check.ts";
import { refused } from "./refused.ts";

const TRIED = "tried";
const MOST_WAYS = 20;

/**
 * Lists what checks of a source can measure.
 * @throws UserError request_refused; RunError
 */
export async function measurablesOf(
  config: Config,
  slug: string,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<{ source: SourceConfig; measurables: Measurables }> {
  const source = config.sources.get(slug);
  if (source === undefined) throw refused(`config.yaml has no source ${slug}`);
  // A query of such a backup goes to one of several databases, and only config.yaml says to which.
  if (source.engine === "postgresql" && source.databases !== null)
    throw refused(`${slug} backs up several databases: write its checks on the host`);
  const measurables = await listColumns(source, context);
  if (measurables === null) throw refused(`checks of the engine ${source.engine} are written on the host`);
  return { source, measurables };
}

/** @throws UserError request_refused; RunError */
export async function listedColumns(
  config: Config,
  slug: string,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<Extract<ConfigResult, { kind: "list_columns" }>> {
  const { measurables } = await measurablesOf(config, slug, context);
  const fit = measurables.tables.filter(({ name }) => name.length <= 300);
  const tables = fit.slice(0, 2000).map(({ name, columns }) => ({
    name,
    columns: columns
      .filter((column) => column.name.length <= 300)
      .slice(0, 500)
      .map((column) => ({ name: column.name, kind: column.newest === null ? "other" : "time" }) as const),
  }));
  const isWhole = tables.every(({ columns }, at) => columns.length === fit[at]?.columns.length);
  const isCut = measurables.isCut || tables.length < measurables.tables.length || !isWhole;
  return { kind: "list_columns", tables, is_cut: isCut };
}

/**
 * Restores the newest backup into a throw-away place, as `check try` does, and runs one check there
 * and on ruined data. The service gets one count or one time. The caller holds the `work` lock.
 * @throws UserError; RunError; ServiceError
 */
export async function tryCheck(
  backend: BackupBackend,
  config: Config,
  asked: Extract<ConfigRequest, { kind: "try_check" }>,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<Extract<ConfigResult, { kind: "try_check" }>> {
  const { source, measurables } = await measurablesOf(config, asked.source, context);
  const { query, expect } = measuredCheck(measurables, asked);
  const { backup, outcome } = await downloadAndTest(
    backend,
    config,
    { ...source, checks: [{ id: TRIED, query, expect }] },
    { backupId: undefined, negativeControls: "all", signal: context.signal, onProgress: () => undefined },
  );
  const check = outcome.checks.find(({ id }) => id === TRIED);
  if (check === undefined)
    throw new RunError(
      "sandbox_failed",
      `the backup ${backup.id} was not restored: ${outcome.reason ?? "no reason"}`,
    );
  const { observed, negative_control: control } = check;
  const ways = (texts: readonly string[] = []): string[] =>
    texts.slice(0, MOST_WAYS).map((text) => clipped(text, 400));
  const problem = observed["error"];
  return {
    kind: "try_check",
    check: {
      query: requireShort(query, 2000),
      expect: requireShort(expect, 500),
      backup_id: backup.id,
      held: check.result === "passed",
      value: asked.measure === "newest" ? timeOf(observed["newest"]) : countOf(observed["n"]),
      ...(typeof problem === "string" ? { problem: clipped(problem, 500) } : {}),
      duration_ms: check.duration_ms,
      noticed: ways(control?.noticed),
      not_noticed: ways(control?.not_noticed),
      not_tried: ways(control?.not_tried),
    },
  };
}

function countOf(observed: unknown): number | null {
  return typeof observed === "number" && Number.isSafeInteger(observed) ? observed : null;
}

/** Nothing but a moment, whatever the copy's server says. */
function timeOf(observed: unknown): string | null {
  const moment = typeof observed === "string" ? parseTimestamp(observed) : null;
  const at_ms =
    moment === null ? secondsOf(observed) * 1000 : "at_us" in moment ? Number(moment.at_us / 1000n) : NaN;
  const at = new Date(at_ms);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** As MariaDB gives it: whole, or `{"number": "1764000000.5"}`. */
function secondsOf(observed: unknown): number {
  if (typeof observed === "number") return observed;
  const isDecimal = typeof observed === "object" && observed !== null && "number" in observed;
  return isDecimal ? Number(observed.number) : NaN;
}

function requireShort(text: string, max: number): string {
  if (text.length <= max && text.isWellFormed()) return text;
  throw refused("the names of this table are too long or not Unicode: write the check on the host");
}
