import { plural } from "@attestore/proof";
import { nearestName } from "@attestore/host/nearest-name";
import { meansTable, missedTables, nextStep, type EarlierTests } from "../checks/index.ts";
import type { SourceConfig } from "../config/source-config.ts";
import { tableCountOf, tablesOfMetadata } from "../engines/tables-of-metadata.ts";
import { UserError } from "../errors/user-error.ts";
import { recordAcceptances } from "../receipts/accepted-losses.ts";
import { reportAccepted } from "../receipts/report-accepted.ts";
import { newestBackup, newestRestoreTest } from "../receipts/receipt-history.ts";
import { readEarlierTests } from "../receipts/read-earlier-tests.ts";
import type { Layout } from "../state/layout.ts";
import { requireNoLogAlarm } from "../state/log-alarm.ts";
import { readSourceIds } from "../state/source-ids.ts";
import type { Call, Run } from "./invocation/command.ts";
import { openBackend, requireSource } from "./invocation/open-root.ts";
import { personOf } from "./invocation/person.ts";
import { takeWorkLock } from "./invocation/work-lock.ts";

const MAX_REASON = 1000;

/**
 * Accepts that tables are gone or have lost rows. Restore tests then no longer expect the counts
 * that earlier tests saw in them. Without tables, lists what the newest backup lacks.
 */
export const accept: Run = async (call, name, ...given) => {
  const { terminal, flags, signal } = call;
  const root = await openBackend(call);
  const { backend, layout } = root;
  try {
    if (name === undefined)
      throw new UserError("usage", "which source? attestore accept SOURCE TABLE --because REASON");
    const source = requireSource(root, name);
    const tables = given.filter((word) => word !== undefined);
    using _ = await takeWorkLock(layout, "accept", {
      signal,
      wait: flags.isOn("wait", true),
      say: terminal.say,
    });
    const id = (await readSourceIds(layout)).get(source.slug);
    const seen = id === undefined ? null : await readEarlierTests(layout, source, id);
    if (id === undefined || seen?.newest === undefined || seen.newest === null)
      throw new UserError(
        "usage",
        `no restore test of ${source.slug} has passed, so nothing of it can be missing`,
      );
    if (tables.length === 0) return await list(call, layout, source, id, seen);
    const because = requireReason(flags.text("because"));
    requireKnown(tables, source, seen);
    await requireNoLogAlarm(layout);
    const [at, by, upTo] = [new Date().toISOString(), personOf(call), seen.newest.madeAt];
    const accepted = tables.map((table) => ({ table, at, upTo, because, by }));
    // Report first: nothing may be accepted without a record of it.
    await reportAccepted(layout, source.slug, at, {
      change: "tables",
      message: `${by} accepted changes of ${tables.join(", ")}: ${because}`,
      tables,
      because,
      by,
      up_to: upTo,
    });
    await recordAcceptances(layout, source.slug, accepted);
    const submitted = await backend.submit(signal);
    if (flags.isOn("json")) {
      const shown = { source: source.slug, tables, because, by, at, up_to: upTo, waiting: submitted.waiting };
      terminal.data(JSON.stringify(shown));
      return 0;
    }
    const { good } = terminal.onData;
    terminal.data(`${good("✓")} ${tables.join(", ")} of ${source.slug}: accepted and signed`);
    if (submitted.waiting > 0) terminal.say("The log will have it once the service can be reached.");
    terminal.note(`Next: attestore restore-test --source ${source.slug}`);
    return 0;
  } finally {
    backend.close();
  }
};

interface Loss {
  readonly table: string;
  /** Null if the table is gone. */
  readonly rows: number | null;
  readonly had: number | null;
}

function requireReason(because: string | undefined): string {
  const reason = because?.trim() ?? "";
  if (reason === "")
    throw new UserError("usage", "accepting a change needs a reason, which is signed: --because REASON");
  if (reason.length <= MAX_REASON) return reason;
  throw new UserError("usage", `the reason may have ${MAX_REASON} characters, and has ${reason.length}`);
}

/**
 * No test saw a table of that name, so it is a typing mistake.
 * @throws UserError usage
 */
function requireKnown(tables: readonly string[], { slug, engine }: SourceConfig, seen: EarlierTests): void {
  const known = seen.known();
  const hasKinds = engine === "dumps" || engine === "restic";
  for (const table of tables) {
    if (table === "*" || (table === "." && (known.length === 0 || hasKinds))) continue;
    if (known.some((each) => meansTable(table, each))) continue;
    const near = nearestName(table, known);
    const hint =
      known.length === 0
        ? `for ${engine}, the whole source is \`.\``
        : near === null
          ? `to list what is missing: attestore accept ${slug}`
          : `did you mean "${near}"?`;
    throw new UserError("usage", `no passed restore test of ${slug} saw "${table}"; ${hint}`);
  }
}

async function list(
  { terminal, flags }: Call,
  layout: Layout,
  { slug }: SourceConfig,
  sourceId: string,
  seen: EarlierTests,
): Promise<0 | 1> {
  const lost = await lossesOf(layout, sourceId, seen);
  if (flags.isOn("json"))
    terminal.data(JSON.stringify({ source: slug, lost: lost.tables, complete: lost.isAll }));
  else if (lost.tables.length === 0)
    terminal.data(`${slug}: nothing that passed restore tests saw is missing`);
  else {
    for (const { table, rows, had } of lost.tables)
      terminal.data(
        `${terminal.onData.bad("✗")} ${table}  ${rows === null ? "gone" : plural(rows, "row")}${had === null ? "" : `, had ${had}`}`,
      );
    if (!lost.isAll)
      terminal.say("There are more, for which the receipt has no room. A pattern with * means several.");
    const names = lost.tables.map(({ table }) => table);
    terminal.say(nextStep(names, slug));
  }
  return lost.tables.length === 0 ? 0 : 1;
}

/**
 * The tables and rows that the newest backup lacks according to its own receipt. If the receipt
 * does not name all tables, those that the newest restore test missed.
 */
async function lossesOf(
  layout: Layout,
  sourceId: string,
  seen: EarlierTests,
): Promise<{ readonly tables: readonly Loss[]; readonly isAll: boolean }> {
  const backup = await newestBackup(layout, sourceId);
  const metadata = backup?.statement.predicate.source_metadata ?? {};
  const present = new Map(tablesOfMetadata(metadata).map(({ name, rows }) => [name, rows]));
  const had = (table: string): number | null => seen.floorOf(table)?.best.rows ?? null;
  if (present.size === 0 || present.size < tableCountOf(metadata)) {
    const test = await newestRestoreTest(layout, sourceId);
    const missed = missedTables(test?.statement.predicate.checks ?? []);
    return { ...missed, tables: missed.tables.map((each) => ({ ...each, had: had(each.table) })) };
  }
  const expected = new Set(seen.expected().map(({ name }) => name));
  const tables = seen.known().flatMap((table): readonly Loss[] => {
    const rows = present.get(table);
    const floor = seen.floorOf(table);
    if (rows === undefined) return expected.has(table) ? [{ table, rows: null, had: had(table) }] : [];
    return rows !== null && floor !== null && rows < floor.rows
      ? [{ table, rows: Number(rows), had: had(table) }]
      : [];
  });
  return { tables, isAll: true };
}
