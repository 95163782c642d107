import { plural, shellWord } from "@attestore/proof";
import { clip } from "../clip.ts";
import type { EarlierTests } from "./earlier-tests.ts";
import type { Floor, PassedTest, SeenTable } from "../passed-tests.ts";

/** For people: `2026-11-20 10:12 UTC`. */
function minute(at: string): string {
  return `${at.slice(0, 16).replace("T", " ")} UTC`;
}

const MAX_NAMED = 3;
const MAX_NAME = 60;
const MAX_COMMAND = 120;

function rowsText(rows: number | bigint): string {
  return plural(rows, "row");
}

/** Why a count is too low: how much is gone, since when, and what to do. */
export function lossText(table: string, rows: number | bigint, floor: Floor, seen: EarlierTests): string {
  const { best } = floor;
  const often = seen.wasAccepted(table) ? " If it shrinks often: may_shrink in config.yaml" : "";
  const gone = `${Math.floor(((best.rows - Number(rows)) / best.rows) * 100)} %`;
  const now = Number(rows) === 0 ? "is empty" : `has ${rowsText(rows)}`;
  return (
    `${clip(table, MAX_NAME)} ${now} and had ${best.rows} in the restore test of ${minute(best.test.at)} (${best.test.backupId}): ` +
    `${gone} are gone. ${nextStep([table], seen.source)}${often}`
  );
}

/** The same for tables that no longer exist. */
export function goneText(
  gone: readonly SeenTable[],
  { at, backupId }: Pick<PassedTest, "at" | "backupId">,
  source: string,
): string {
  const named = gone.slice(0, MAX_NAMED);
  const names = named.map(
    ({ name, rows }) => `${clip(name, MAX_NAME)}${rows === null ? "" : ` (${rowsText(rows)})`}`,
  );
  const more = gone.length > named.length ? ` and ${gone.length - named.length} more` : "";
  // A command that the record cuts off does not help.
  const isShort = gone.length === 1 || named.map(({ name }) => name).join(" ").length <= MAX_COMMAND;
  const tables = gone.length > named.length || !isShort ? [] : named.map(({ name }) => name);
  return (
    `gone since the restore test of ${minute(at)} (${backupId}): ${names.join(", ")}${more}. ` +
    nextStep(tables, source)
  );
}

/** The one command for an intended loss; without tables, the one that lists them. */
export function nextStep(tables: readonly string[], source: string): string {
  if (tables.length === 0) return `To list all: attestore accept ${source}`;
  return `If that is right: attestore accept ${source} ${tables.map(shellWord).join(" ")} --because REASON`;
}
