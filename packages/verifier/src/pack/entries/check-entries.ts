import { MAX_BUNDLE_SIZE, parseJson, plural, PREDICATE_BACKUP, ProofError } from "@attestore/proof";
import { sortedNumbers } from "../../compact/growing-numbers.ts";
import { ZipError } from "../../zip/zip-error.ts";
import type { KnownAgent } from "../agents/read-agents.ts";
import { checkEvent, type CheckedEvent, MAX_EVENT } from "./check-event.ts";
import type { PackLog } from "../log/pack-log.ts";
import type { CheckedRange } from "../log/check-range.ts";
import { checkReceipt, type CheckedReceipt } from "./check-receipt.ts";
import type { Findings } from "../findings.ts";
import type { PackFiles } from "../files/pack-files.ts";

/** How many signatures are checked at once in the thread pool. */
const AT_ONCE = 32;

/** A valid receipt or event. */
export type CheckedEntry = CheckedReceipt | CheckedEvent;

export interface EntryCounts {
  receipts: number;
  events: number;
  /** Whether a receipt is of an unknown version, and cannot be counted. */
  hasUnread: boolean;
}

/**
 * Checks every receipt and event by itself, and that each leaf of the period has its body. `see`
 * gets the valid ones one after the other, and nothing keeps them: first those from outside the
 * range of bodies, and then that range, both in log order.
 */
export async function checkEntries(
  files: PackFiles,
  findings: Findings,
  log: PackLog,
  agents: ReadonlyMap<string, KnownAgent>,
  { range, placement, missing, count }: CheckedRange,
  see: (entry: CheckedEntry) => void | Promise<void>,
): Promise<EntryCounts> {
  findings.takeOver(missing);
  const counts: EntryCounts = { receipts: 0, events: 0, hasUnread: false };
  const check = (file: number): Promise<CheckedEntry | "unread" | null> => {
    const named = { file, id: idAt(files, file) ?? "", index: placement.indexOf(file) };
    const isReceipt = named.id.startsWith("rcpt_");
    counts[isReceipt ? "receipts" : "events"] += 1;
    return isReceipt
      ? checkReceipt(files, findings, log, agents, named)
      : checkEvent(files, log, agents, named);
  };
  const checkAll = async (batch: readonly number[]): Promise<void> => {
    for (const entry of await Promise.all(batch.map(check)))
      if (entry === "unread") counts.hasUnread = true;
      else if (entry !== null) {
        if (entry.isEarlier) requireOutside(findings, entry, files, range);
        await see(entry);
      }
  };
  let batch: number[] = [];
  for (const entries of [await otherFiles(files, placement), placement.inOrder()])
    for (const file of entries)
      if (batch.push(file) === AT_ONCE) {
        await checkAll(batch);
        batch = [];
      }
  await checkAll(batch);
  findings.hold("receipts", plural(counts.receipts, "receipt"));
  findings.hold(
    "complete",
    `${plural(count, "entry", "entries")}, each with the content that its leaf covers`,
  );
  return counts;
}

const FILE = /^(?:receipts\/(rcpt_[0-9a-z]+)|events\/(evt_[0-9a-z]+))\.json$/;

/** The id of the receipt or event in a file; null for another file. */
export function idAt(files: PackFiles, file: number): string | null {
  const [, receipt, event] = FILE.exec(files.pathAt(file)) ?? [];
  return receipt ?? event ?? null;
}

/** Files of receipts and events from outside the range of bodies, in log order. */
async function otherFiles(files: PackFiles, placement: CheckedRange["placement"]): Promise<number[]> {
  const found: number[] = [];
  for (const folder of ["events/", "receipts/"])
    for (const file of files.below(folder))
      if (placement.indexOf(file) === undefined && idAt(files, file) !== null) found.push(file);
  const indexes = new Float64Array(found.length);
  for (const [n, file] of found.entries()) indexes[n] = await claimedIndex(files, files.pathAt(file));
  const order = sortedNumbers(found.length, (a, b) => (indexes[a] ?? 0) - (indexes[b] ?? 0));
  return Array.from(order, (n) => found[n] ?? 0);
}

/** Where a file says that it is in the log, which its check is going to show. */
async function claimedIndex(files: PackFiles, path: string): Promise<number> {
  try {
    const value = parseJson(await files.read(path, Math.max(MAX_EVENT, MAX_BUNDLE_SIZE)));
    const index = (value as { inclusion_proof?: { log_index?: unknown } | null } | null)?.inclusion_proof
      ?.log_index;
    return typeof index === "number" ? index : 0;
  } catch (error) {
    if (error instanceof ProofError || error instanceof ZipError) return 0;
    throw error;
  }
}

/**
 * Checks that an entry from outside the period is marked so, and that it does not lie outside the
 * range if it is of the period.
 */
function requireOutside(
  findings: Findings,
  entry: CheckedEntry,
  { manifest: { period } }: PackFiles,
  { bodies_until }: CheckedRange["range"],
): void {
  const { id, recordedAt } = entry;
  if (recordedAt >= period.from && recordedAt < bodies_until)
    findings.fail("complete", `${id} was recorded in the period but is outside the range of leaves`);
  if (!("statement" in entry)) return;
  // Only each source's last backup counts among these, for the data recoverable when the period
  // began.
  if (recordedAt >= period.from || entry.statement.predicateType !== PREDICATE_BACKUP)
    findings.fail("complete", `${id} is neither from the period nor a backup from before it`);
}
