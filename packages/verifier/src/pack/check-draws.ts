import {
  declaredDraw,
  type DeclaredDraw,
  DRAW_DECLARED,
  envelopeFromJson,
  type EventBundle,
  type NoteVerifier,
  openDraw,
  ProofError,
  type Rollback,
  toBase64,
  plural,
} from "@attestore/proof";
import type { CheckedEvents } from "./check-event.ts";
import type { CheckedReceipt } from "./check-receipt.ts";
import type { Findings } from "./findings.ts";
import { isKeptTest } from "./kept-statement.ts";

/** What is recorded so shortly before a draw may have come after the agent asked what is kept. */
const ASKED_BEFORE_MS = 600_000;
/** A declaration may have waited so long on its host for the service. */
const WAITED_MS = 24 * 3_600_000;
/** At most this many draws are named. */
const MAX_NAMED = 5;

interface Declared extends DeclaredDraw {
  id: string;
  bundle: EventBundle;
  index: number;
  payload: Uint8Array;
}

/** The log whose heads decided. */
interface DrawLog {
  logKey: NoteVerifier;
  rollbacks: readonly Rollback[];
  roots: ReadonlyMap<number, string>;
}

type Entries = Pick<CheckedEvents, "events"> & { receipts: readonly CheckedReceipt[] };

/**
 * Checks what a receipt with a draw cannot show alone: that no draw counts for two tests, that no
 * agent drew again while a draw had no result, that no kept backup was left out, and that the head
 * that decided is of the pack's log. Draws without a result are named.
 */
export async function checkDraws(
  findings: Findings,
  { events, receipts }: Entries,
  log: DrawLog,
): Promise<void> {
  const declared = declaredIn(events, findings);
  const results = resultsOf(findings, receipts, declared, log);
  if (declared.length === 0 && results.size === 0) return;
  for (const draw of declared) requireAll(findings, draw, { events, receipts });
  const open = declared.filter(({ id }) => !results.has(id));
  for (const draw of open) await requireGone(findings, draw, declared, log.logKey);
  const named = open.slice(0, MAX_NAMED).map(({ id, sourceId }) => `${id} of ${sourceId}`);
  const more = open.length > named.length ? ` and ${open.length - named.length} more` : "";
  const without = open.length === 0 ? "" : `; ${open.length} without a result: ${named.join(", ")}${more}`;
  findings.hold(
    "draws",
    `${plural(declared.length, "draw")}, ${plural(results.size, "test of a drawn backup", "tests of drawn backups")}${without}`,
  );
}

/** In log order. A draw that its agent did not sign decides nothing. */
function declaredIn(events: ReadonlyMap<string, EventBundle>, findings: Findings): Declared[] {
  const found: Declared[] = [];
  for (const [id, bundle] of events) {
    if (bundle.leaf.kind !== DRAW_DECLARED || bundle.envelope === undefined) continue;
    const { payload } = envelopeFromJson(bundle.envelope);
    try {
      const index = bundle.inclusion_proof.log_index;
      found.push({ ...declaredDraw(payload), id, bundle, index, payload });
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      if (error.code === "unknown_version") findings.leaveOpen("draws", `${id}: ${error.message}`);
      else findings.fail("draws", `${id}: ${error.message}`);
    }
  }
  return found.toSorted((a, b) => a.index - b.index);
}

/** Ids of the draws that a test names. The receipt's own check has shown that each draw holds. */
function resultsOf(
  findings: Findings,
  receipts: readonly CheckedReceipt[],
  declared: readonly Declared[],
  { rollbacks, roots }: DrawLog,
): Set<string> {
  const used = new Map<string, string>();
  for (const { id, statement } of receipts) {
    if (!isKeptTest(statement) || statement.draw === null) continue;
    const { eventId, logIndex, rootHash, origin, bodySha256 } = statement.draw;
    // The log lost the place of the draw: its agent handed it in again, and it is where it is now.
    const isLost = rollbacks.some(({ ended, size }) => ended === origin && logIndex >= size);
    const again = isLost ? declared.find(({ bundle }) => bundle.leaf.body_sha256 === bodySha256) : undefined;
    const draw = again?.id ?? eventId;
    const root = isLost ? undefined : roots.get(logIndex);
    if (root !== undefined && root !== rootHash)
      findings.fail("draws", `${id}: the head that decided its draw is not of the pack's log`);
    const other = used.get(draw);
    if (other !== undefined) findings.fail("draws", `${id}: the draw ${draw} is that of ${other} already`);
    used.set(draw, id);
  }
  return new Set(used.keys());
}

/** Checks that no backup is missing that the log has, and whose removal it did not announce. */
function requireAll(findings: Findings, draw: Declared, { events, receipts }: Entries): void {
  const { leaf: own, event: said } = draw.bundle;
  const recorded = Date.parse(own.recorded_at);
  const at = Math.min(recorded, Math.max(Date.parse(said.occurred_at), recorded - WAITED_MS));
  const isLeft = (when: string): boolean => Date.parse(when) > at + ASKED_BEFORE_MS;
  const removed = new Set<string>();
  for (const { event, leaf } of [...events.values()].toSorted(byIndex))
    if (event.backup_id !== undefined && !isLeft(leaf.recorded_at)) {
      if (leaf.kind === "backup_expiring" || leaf.kind === "backup_expired") removed.add(event.backup_id);
      if (leaf.kind === "backup_removal_withdrawn" && Date.parse(leaf.recorded_at) < at - ASKED_BEFORE_MS)
        removed.delete(event.backup_id);
    }
  const candidates = new Set(draw.candidates);
  const newest = draw.candidates.at(-1) ?? "";
  const missing = receipts.filter(({ statement, recordedAt, isEarlier }) => {
    const { backup_id: id, source_id } = statement.predicate;
    const isKept = source_id === draw.sourceId && !isKeptTest(statement) && !removed.has(id);
    const isKnown = !isEarlier && Date.parse(recordedAt) < at - ASKED_BEFORE_MS;
    return isKept && isKnown && !candidates.has(id) && !(draw.omitted > 0 && id > newest);
  });
  const [first] = missing;
  if (first !== undefined)
    findings.fail(
      "draws",
      `${draw.id}: ${plural(missing.length, "kept backup is", "kept backups are")} not among its candidates, the first is ${first.statement.predicate.backup_id}`,
    );
}

function byIndex(a: EventBundle, b: EventBundle): number {
  return a.inclusion_proof.log_index - b.inclusion_proof.log_index;
}

/**
 * An agent that draws again while a draw has no result may do so until the result suits it. It may
 * if it shows that the drawn backup is gone.
 */
async function requireGone(
  findings: Findings,
  draw: Declared,
  all: readonly Declared[],
  logKey: NoteVerifier,
): Promise<void> {
  const next = all.find(
    ({ sourceId, agentId, index }) =>
      sourceId === draw.sourceId && agentId === draw.agentId && index > draw.index,
  );
  if (next === undefined || (await isShownGone(draw, next, logKey))) return;
  findings.leaveOpen(
    "draws",
    `${next.id} draws again for ${draw.sourceId}, and ${draw.id} has no result: whoever may repeat a draw can choose`,
  );
}

async function isShownGone(draw: Declared, next: Declared, logKey: NoteVerifier): Promise<boolean> {
  const { replaces } = next;
  if (replaces === null || replaces.event_id !== draw.id) return false;
  const { hashes, checkpoint, secret, backup_id } = replaces;
  const { leaf } = draw.bundle;
  const statement = toBase64(draw.payload);
  const log_index = draw.index;
  try {
    const shown = await openDraw({ v: 1, statement, leaf, log_index, hashes, checkpoint, secret }, logKey);
    return shown.backupId === backup_id && !next.candidates.includes(backup_id);
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}
