import { plural } from "@attestore/proof";
import type { Command } from "commander";
import { type Archived, archiveReceipts, listArchivable } from "../log/archive/archive-receipts.ts";
import { unarchiveNewest } from "../log/archive/unarchive-receipts.ts";
import { comparePair } from "../features/installation/pairing.ts";
import { ApiError } from "../platform/errors/api-error.ts";
import { UserError } from "../platform/errors/user-error.ts";
import { type CommonOptions, consoleCommand, runInConsole } from "./console-command.ts";
import type { Console } from "./console.ts";

const DAY_MS = 86_400_000;
const LEAST_DAYS = 90;
const { signal } = new AbortController();

/**
 * `attestore-server log archive`: what the service does each hour by ATTESTORE_ARCHIVE_AFTER_DAYS.
 */
export function logArchiveCommand(): Command {
  return consoleCommand("archive", "Move the envelopes of old receipts from the database to the object store")
    .option("--older-than <days>", `at least ${LEAST_DAYS}; otherwise ATTESTORE_ARCHIVE_AFTER_DAYS`)
    .action((options: CommonOptions & { olderThan?: string }) =>
      runInConsole(options, async (console) => {
        const days = daysOf(options.olderThan, console);
        const before = new Date(Date.now() - days * DAY_MS);
        await console.act("log archive", async () => ({ orgId: null, done: undefined }));
        const requireStore = () => requirePaired(console);
        await requireStore();
        const sum: Archived = { files: 0, receipts: 0, bytes: 0 };
        for (const orgId of await listArchivable(console.db)) {
          const done = await archiveReceipts(
            { db: console.db, files: console.objects.files, requireStore },
            { orgId, before, signal },
          );
          sum.files += done.files;
          sum.receipts += done.receipts;
          sum.bytes += done.bytes;
        }
        return {
          json: { older_than_days: days, ...sum },
          result:
            sum.files === 0
              ? `Nothing to archive: no 256 entries of a log are all older than ${plural(days, "day")}.`
              : `Archived ${plural(sum.receipts, "receipt")} (${sum.bytes} bytes) in ${plural(sum.files, "file")}. PostgreSQL uses the room for new rows.`,
        };
      }),
    );
}

/** `attestore-server log unarchive`: before a release that knows no archive, or another store. */
export function logUnarchiveCommand(): Command {
  return consoleCommand("unarchive", "Take all archived envelopes back into the database")
    .option("--yes", "do it, instead of only showing how much that would be")
    .action((options: CommonOptions & { yes?: boolean }) =>
      runInConsole(options, async (console) => {
        const state = await readState(console);
        const shown = `In the archive: ${plural(state.files, "file")} of ${plural(state.orgs.length, "organisation")}, ${state.bytes} bytes.`;
        const json = { files: state.files, bytes: state.bytes };
        if (options.yes !== true || state.files === 0)
          return {
            json: { ...json, taken_back: null },
            result: shown,
            ...(state.files === 0 ? {} : { next: "attestore-server log unarchive --yes" }),
          };
        if (console.config.archiveAfterDays !== undefined)
          throw new UserError(
            "invalid_setting",
            "ATTESTORE_ARCHIVE_AFTER_DAYS is set, so the service would archive them again. Unset it, restart the service, and run this again.",
          );
        await console.act("log unarchive", async () => ({ orgId: null, done: undefined }));
        const deps = { db: console.db, files: console.objects.files };
        let back = 0;
        for (const orgId of state.orgs)
          for (let count: number | null = 0; count !== null; count = await unarchiveNewest(deps, orgId))
            back += count;
        return {
          json: { ...json, taken_back: back },
          talk: [shown],
          result: `Took ${plural(back, "envelope")} back into the database. The files are still below archive/; nothing reads them now.`,
          next: "attestore-server fsck",
        };
      }),
    );
}

async function requirePaired(console: Console): Promise<void> {
  const { pairing } = await comparePair(console, console.objects);
  if (pairing.is !== "paired")
    throw new ApiError(
      "conflict",
      "The object store does not belong to this database, so receipts would be lost with it. attestore-server objects status shows more.",
    );
}

function daysOf(given: string | undefined, { config }: Console): number {
  const days = given === undefined ? config.archiveAfterDays : Number(given);
  if (days === undefined)
    throw new UserError(
      "invalid_argument",
      "Say from which age on: --older-than 400, or set ATTESTORE_ARCHIVE_AFTER_DAYS.",
    );
  if (!Number.isInteger(days) || days < LEAST_DAYS || days > 36_500)
    throw new UserError("invalid_argument", `--older-than needs ${LEAST_DAYS} to 36500 days.`);
  return days;
}

async function readState({ pool }: Console): Promise<{ files: number; bytes: number; orgs: string[] }> {
  const { rows } = await pool.query<{ org_id: string; files: number; bytes: number }>(
    "select org_id, count(*)::int as files, sum(size_bytes)::bigint as bytes from archive_files group by org_id order by org_id",
  );
  return {
    files: rows.reduce((sum, { files }) => sum + files, 0),
    bytes: rows.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    orgs: rows.map(({ org_id }) => org_id),
  };
}
