import { plural } from "../text/plural.ts";
import { parseLogName } from "../log/generation-name.ts";
import type { Rollback } from "../log/rolled-back.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import { failed, held, notChecked, type ReceiptCheck } from "./check.ts";
import { type OpenedDraw, openDraw } from "./draw.ts";
import type { Statement } from "./statement.ts";

/** Where a receipt is in the log. */
export interface ReceiptPlace {
  logIndex: number;
  /** Of its checkpoint. */
  origin: string;
  /** The generations that began until then; null if that is not shown. */
  rollbacks: readonly Rollback[] | null;
}

/**
 * Where a log lost entries, an index is used twice: what was decided in a place that was lost comes
 * before everything that follows on what was left.
 */
function whyNotAfter(
  { logIndex, origin, rollbacks }: ReceiptPlace,
  drawn: Pick<OpenedDraw, "origin" | "logIndex">,
): string | false {
  if (parseLogName(drawn.origin).generation > parseLogName(origin).generation)
    return "the draw is of a later generation of the log than the receipt";
  const end = rollbacks?.find(({ ended }) => ended === drawn.origin);
  const after = end === undefined ? drawn.logIndex : Math.min(drawn.logIndex, end.size);
  return logIndex <= after && "the receipt is not after the draw in the log";
}

/**
 * Recomputes which backup the draw chose. Without a draw in the statement there is nothing to
 * check. `place` is the receipt's own place in the log, if known.
 */
export async function checkDraw(
  statement: Statement | undefined,
  logKey: NoteVerifier | undefined,
  place: ReceiptPlace | undefined,
): Promise<ReceiptCheck[]> {
  const predicate = statement?.predicate;
  if (predicate === undefined || !("draw" in predicate) || predicate.draw === undefined) return [];
  let opened: OpenedDraw;
  try {
    opened = await openDraw(predicate.draw, logKey);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    const isLater = error.code === "unknown_version";
    return [isLater ? notChecked("draw", error.message) : failed("draw", error.message)];
  }
  const { candidates, backupId, eventId } = opened;
  if (place !== undefined && place.rollbacks === null && opened.origin !== place.origin)
    return [
      notChecked("draw", "the draw is of another generation of the log, and what began it is not shown"),
    ];
  const differences = [
    opened.orgId !== predicate.org_id && "the draw belongs to another organisation",
    opened.agentId !== predicate.agent_id && "the draw is another agent's",
    opened.sourceId !== predicate.source_id && `the draw is of ${opened.sourceId}`,
    backupId !== predicate.backup_id &&
      `the draw chose ${backupId}, and the test is of ${predicate.backup_id}`,
    place !== undefined && whyNotAfter(place, opened),
  ].filter((difference) => typeof difference === "string");
  if (differences.length > 0) return [failed("draw", differences.join("; "))];
  const among = `${backupId}, one of ${candidates.length}${opened.omitted > 0 ? ` (${opened.omitted} newer ones left out)` : ""}`;
  const where = `declared in ${eventId}, decided by the head of ${plural(opened.logIndex + 1, "leaf", "leaves")}`;
  return [
    logKey === undefined
      ? notChecked("draw", `it leads to ${among}, but the log's verifier key is needed to believe it`)
      : held("draw", `${among}; ${where}, signed by ${logKey.name}`),
  ];
}
