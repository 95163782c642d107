import { PREDICATE_BACKUP, plural } from "@attestore/proof";
import type { KnownAgent } from "./read-agents.ts";
import { checkEvent, type CheckedEvents } from "./check-event.ts";
import type { PackLog } from "./pack-log.ts";
import type { CheckedRange, RangeLeaf } from "./check-range.ts";
import { checkReceipt, type CheckedReceipt } from "./check-receipt.ts";
import type { Findings } from "./findings.ts";
import type { PackFiles } from "./pack-files.ts";
import { checkUnsigned } from "./unsigned-events.ts";

/** How many signatures are checked at once in the thread pool. */
const AT_ONCE = 32;

export interface CheckedEntries extends CheckedEvents {
  /** In log order. */
  receipts: CheckedReceipt[];
  /** Ids of the events from outside the range of bodies. */
  otherEvents: Set<string>;
  /** Receipts of an unknown version, which cannot be counted. */
  unread: string[];
}

/**
 * Checks every receipt and event by itself, and that each leaf of the period has its body. The
 * result contains only what is valid.
 */
export async function checkEntries(
  files: PackFiles,
  findings: Findings,
  log: PackLog,
  agents: ReadonlyMap<string, KnownAgent>,
  range: CheckedRange,
): Promise<CheckedEntries> {
  const found: CheckedEntries = {
    receipts: [],
    signedEvents: [],
    events: new Map(),
    otherEvents: new Set(),
    unread: [],
  };
  const ids = idsOf(files);
  requireComplete(findings, range.leaves, ids);
  const named = { receipts: 0, events: 0 };
  for (let at = 0; at < ids.length; at += AT_ONCE)
    await Promise.all(
      ids.slice(at, at + AT_ONCE).map(async (id) => {
        const leaf = range.leaves.get(id);
        if (id.startsWith("rcpt_")) {
          named.receipts += 1;
          const receipt = await checkReceipt(files, findings, log, agents, { id, leaf });
          if (receipt === "unread") found.unread.push(id);
          else if (receipt !== null) found.receipts.push(receipt);
        } else {
          named.events += 1;
          const checked = await checkEvent(files, log, agents, { id, leaf });
          if (checked === null) return;
          found.events.set(id, checked.bundle);
          if (checked.signed !== null) found.signedEvents.push(checked.signed);
          if (leaf === undefined) found.otherEvents.add(id);
        }
      }),
    );
  found.receipts.sort((a, b) => a.logIndex - b.logIndex);
  found.signedEvents.sort((a, b) => a.logIndex - b.logIndex);
  requireOthersOutside(files, findings, range, found);
  findings.hold("receipts", `${plural(named.receipts, "receipt")}`);
  findings.hold("events", `${plural(named.events, "event")}${checkUnsigned(findings, found)}`);
  findings.hold(
    "complete",
    `${plural(range.leaves.size, "entry", "entries")}, each with the content that its leaf covers`,
  );
  return found;
}

const FILE = /^(?:receipts\/(rcpt_[0-9a-z]+)|events\/(evt_[0-9a-z]+))\.json$/;

function idsOf(files: PackFiles): string[] {
  return files.paths().flatMap((path) => {
    const [, receipt, event] = FILE.exec(path) ?? [];
    return receipt ?? event ?? [];
  });
}

function requireComplete(
  findings: Findings,
  leaves: ReadonlyMap<string, RangeLeaf>,
  ids: readonly string[],
): void {
  const present = new Set(ids);
  for (const { index, leaf } of leaves.values())
    if (!present.has(leaf.id))
      findings.fail("complete", `leaf ${index} (${leaf.kind}, ${leaf.id}) of ${leaf.recorded_at} is missing`);
}

/**
 * Checks that entries from outside the period are marked so, and that no entry of the period lies
 * outside the range.
 */
function requireOthersOutside(
  { manifest }: PackFiles,
  findings: Findings,
  { range, leaves }: CheckedRange,
  { receipts, events, otherEvents }: CheckedEntries,
): void {
  const others = [
    ...receipts.filter(({ isEarlier }) => isEarlier),
    ...[...otherEvents].flatMap((id) => {
      const leaf = events.get(id)?.leaf;
      return leaf === undefined ? [] : [{ id, recordedAt: leaf.recorded_at }];
    }),
  ];
  for (const { id, recordedAt } of others)
    if (!leaves.has(id) && recordedAt >= manifest.period.from && recordedAt < range.bodies_until)
      findings.fail("complete", `${id} was recorded in the period but is outside the range of leaves`);
  // Only each source's last backup counts among these, for the data recoverable when the period
  // began.
  for (const { id, recordedAt, statement } of receipts.filter(({ isEarlier }) => isEarlier))
    if (recordedAt >= manifest.period.from || statement.predicateType !== PREDICATE_BACKUP)
      findings.fail("complete", `${id} is neither from the period nor a backup from before it`);
}
