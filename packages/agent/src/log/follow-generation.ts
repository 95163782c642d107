import {
  equalBytes,
  openLogCheckpoint,
  type Checkpoint,
  type LostLogHead,
  type OpenedLogCheckpoint,
  type OwnEventBundle,
  parseLogGenerations,
  plural,
  ProofError,
  requireHeadOf,
  requireNoFork,
  type Rollback,
  toHex,
  verifyGenerations,
  verifyLostHead,
} from "@attestore/proof";
import type { Attachment } from "../service/attachment.ts";
import { isPermanentRefusal, ServiceError } from "../transport/service-error.ts";
import { findInconsistency } from "./consistency.ts";
import type { FollowedGenerations } from "./followed-generations.ts";

/** Why this agent does not follow. */
export interface NotFollowed {
  refused: boolean;
  detail: string;
}

export interface Following {
  offered: OpenedLogCheckpoint;
  /** What this agent has seen of the log: its newest head, and heads that raised its alarm. */
  held: readonly Checkpoint[];
  followed: FollowedGenerations;
}

/**
 * Decides whether the log of a later generation is the one that this agent knows, after a loss that
 * its operator named (docs/decisions/0015-log-generations.md). Every generation has to begin with
 * the log's own event, as this agent has followed before, and the new tree with what that event
 * says was left. Each head that this agent holds is within what was left, and the new tree extends
 * it, or it is named as lost, with its root. Returns the events, or why not. Throws ServiceError if
 * there was no answer.
 */
export async function checkGenerations(
  attachment: Attachment,
  { offered, held, followed }: Following,
  signal: AbortSignal,
): Promise<{ began: OwnEventBundle[] } | NotFollowed> {
  try {
    const sizes = [...new Set(held.map(({ size }) => Number(size)))];
    const { began, lost } = await readEvents(attachment, sizes, signal);
    const rollbacks = await verifyGenerations(began, attachment.logKey, offered.generation);
    requireSame(followed, began);
    requireNoFork(rollbacks, lost);
    requireHeadOf(rollbacks, { origin: offered.origin, size: Number(offered.size) });
    for (const { checkpoint } of began) {
      const first = await openLogCheckpoint(checkpoint, attachment.logKey);
      const fault = await findInconsistency(attachment, first, offered, signal);
      if (fault !== null) return fault;
    }
    for (const head of held) {
      const fault = await account(attachment, head, { offered, rollbacks, lost }, signal);
      if (fault !== null) return fault;
    }
    return { began };
  } catch (error) {
    if (error instanceof ProofError) return { refused: false, detail: error.message };
    // A service that began a generation and can't show how is no network failure.
    if (error instanceof ServiceError && isPermanentRefusal(error))
      return { refused: true, detail: `the service did not say how its log lost entries: ${error.message}` };
    throw error;
  }
}

async function readEvents(
  { service, logKey }: Attachment,
  sizes: readonly number[],
  signal: AbortSignal,
): Promise<{ began: OwnEventBundle[]; lost: LostLogHead[] }> {
  let began: OwnEventBundle[] | null = null;
  const lost: LostLogHead[] = [];
  for (const size of sizes.length === 0 ? [1] : sizes) {
    const answer = await service.logGenerations({ treeSize: Math.max(1, size) }, { signal });
    const events = parseLogGenerations(JSON.stringify(answer));
    began ??= events.began;
    for (const event of events.lost) lost.push(await verifyLostHead(event, logKey));
  }
  return { began: began ?? [], lost };
}

/** Whoever names another beginning for a generation than before rewrites the log's history. */
function requireSame({ began: known }: FollowedGenerations, began: readonly OwnEventBundle[]): void {
  for (const [n, { checkpoint, leaf }] of known.entries())
    if (began[n]?.leaf.id !== leaf.id || textOf(began[n].checkpoint) !== textOf(checkpoint))
      throw new ProofError(
        "generation_invalid",
        `generation ${n + 2} began with another event than when this agent followed to it`,
      );
}

/** The three lines that the log signs. */
function textOf(checkpoint: string): string {
  return checkpoint.slice(0, checkpoint.indexOf("\n\n"));
}

/** Null if this head is within what is left, or named as lost. */
async function account(
  attachment: Attachment,
  head: Checkpoint,
  {
    offered,
    rollbacks,
    lost,
  }: { offered: Checkpoint; rollbacks: readonly Rollback[]; lost: readonly LostLogHead[] },
  signal: AbortSignal,
): Promise<NotFollowed | null> {
  const end = rollbacks.find(({ ended }) => ended === head.origin);
  if (end === undefined || head.size <= BigInt(end.size)) {
    if (head.size === offered.size && equalBytes(head.rootHash, offered.rootHash)) return null;
    const [small, large] = head.size > offered.size ? [offered, head] : [head, offered];
    return findInconsistency(attachment, small, large, signal);
  }
  const isNamed = [...end.lost, ...lost].some(
    ({ origin, size, rootHash }) =>
      origin === head.origin && BigInt(size) === head.size && equalBytes(rootHash, head.rootHash),
  );
  if (isNamed) return null;
  return {
    refused: false,
    detail: `${offered.origin} does not name the head of ${plural(head.size, "leaf", "leaves")} with root ${toHex(head.rootHash)} as lost`,
  };
}
