import { equalBytes } from "../bytes.ts";
import { toHex } from "../hex.ts";
import type { Checkpoint } from "../notes/checkpoint.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import { plural } from "../text/plural.ts";
import { openLogCheckpoint, type OpenedLogCheckpoint } from "./generation-name.ts";
import type { LogGenerations } from "./log-generations.ts";
import type { ServiceEventBundle } from "./service-event.ts";
import {
  type LostLogHead,
  requireHeadOf,
  requireNoFork,
  type Rollback,
  verifyGenerations,
  verifyLostHead,
} from "./rolled-back.ts";

/** What somebody who watches a log has of it, and a head of a later generation. */
export interface Succession {
  logKey: NoteVerifier;
  offered: OpenedLogCheckpoint;
  /** The heads that the watcher has seen. */
  held: readonly Checkpoint[];
  /** The events that began the generations which the watcher has followed to. */
  followed: readonly ServiceEventBundle[];
  /** The log's answer, with the lost heads of all sizes in `held`. */
  answer: LogGenerations;
}

/** Two heads whose trees have to be shown to be one: the large one begins with the small one. */
export interface HeadsToProve {
  small: Checkpoint;
  large: Checkpoint;
}

export interface CheckedSuccession {
  rollbacks: Rollback[];
  /** A watcher follows only after a consistency proof for each; sizes that differ. */
  toProve: HeadsToProve[];
}

/**
 * Decides whether a head of a later generation is of the log that the watcher knows, after a loss
 * that its operator named (docs/decisions/0015-log-generations.md). Every generation begins with
 * a service event, as the watcher has followed before, and the new tree with what that event
 * says was left. Each head that the watcher holds is within what was left, and the new tree extends
 * it, or it is named as lost, with its root. Throws ProofError.
 */
export async function checkSuccession({
  logKey,
  offered,
  held,
  followed,
  answer: { began, lost: events },
}: Succession): Promise<CheckedSuccession> {
  const lost: LostLogHead[] = [];
  for (const event of events) lost.push(await verifyLostHead(event, logKey));
  const rollbacks = await verifyGenerations(began, logKey, offered.generation);
  requireSame(followed, began);
  requireNoFork(rollbacks, lost);
  requireHeadOf(rollbacks, { origin: offered.origin, size: Number(offered.size) });
  const heads: Checkpoint[] = [];
  for (const { checkpoint } of began) heads.push(await openLogCheckpoint(checkpoint, logKey));
  for (const head of held) if (!isLost(head, offered.origin, rollbacks, lost)) heads.push(head);
  return { rollbacks, toProve: heads.flatMap((head) => pairOf(head, offered)) };
}

/** Whoever names another beginning for a generation than before rewrites the log's history. */
function requireSame(known: readonly ServiceEventBundle[], began: readonly ServiceEventBundle[]): void {
  for (const [n, { checkpoint, leaf }] of known.entries())
    if (began[n]?.leaf.id !== leaf.id || signedText(began[n].checkpoint) !== signedText(checkpoint))
      throw new ProofError(
        "generation_invalid",
        `generation ${n + 2} began with another event than when it was followed`,
      );
}

function signedText(checkpoint: string): string {
  return checkpoint.slice(0, checkpoint.indexOf("\n\n"));
}

/** Whether the head is beyond what was left, and named. Throws if it is beyond and not named. */
function isLost(
  head: Checkpoint,
  present: string,
  rollbacks: readonly Rollback[],
  lost: readonly LostLogHead[],
): boolean {
  const end = rollbacks.find(({ ended }) => ended === head.origin);
  if (end === undefined || head.size <= BigInt(end.size)) return false;
  const isNamed = [...end.lost, ...lost].some(
    ({ origin, size, rootHash }) =>
      origin === head.origin && BigInt(size) === head.size && equalBytes(rootHash, head.rootHash),
  );
  if (isNamed) return true;
  throw new ProofError(
    "generation_invalid",
    `${present} does not name the head of ${plural(head.size, "leaf", "leaves")} with root ${toHex(head.rootHash)} as lost`,
  );
}

function pairOf(head: Checkpoint, offered: Checkpoint): HeadsToProve[] {
  if (head.size !== offered.size)
    return head.size < offered.size ? [{ small: head, large: offered }] : [{ small: offered, large: head }];
  if (equalBytes(head.rootHash, offered.rootHash)) return [];
  throw new ProofError("consistency_invalid", `two roots for ${plural(head.size, "leaf", "leaves")}`);
}
