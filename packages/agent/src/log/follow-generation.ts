import {
  checkSuccession,
  type Checkpoint,
  type LogGenerations,
  type OpenedLogCheckpoint,
  type ServiceEventBundle,
  parseLogGenerations,
  ProofError,
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
  /**
   * The parts of the log that this agent has seen: its newest head, and heads that raised its
   * alarm.
   */
  held: readonly Checkpoint[];
  followed: FollowedGenerations;
}

/**
 * Decides by the rule of checkSuccession whether the log of a later generation is the one that this
 * agent knows, with consistency proofs from the service. Returns the events that began its
 * generations, or why not. Throws ServiceError if there was no answer.
 */
export async function checkGenerations(
  attachment: Attachment,
  { offered, held, followed }: Following,
  signal: AbortSignal,
): Promise<{ began: ServiceEventBundle[] } | NotFollowed> {
  try {
    const sizes = [...new Set(held.map(({ size }) => Number(size)))];
    const answer = await readEvents(attachment, sizes, signal);
    const { logKey } = attachment;
    const { toProve } = await checkSuccession({ logKey, offered, held, followed: followed.began, answer });
    for (const { small, large } of toProve) {
      const fault = await findInconsistency(attachment, small, large, signal);
      if (fault !== null) return fault;
    }
    return { began: answer.began };
  } catch (error) {
    if (error instanceof ProofError) return { refused: false, detail: error.message };
    // A service that began a generation and can't show how is no network failure.
    if (error instanceof ServiceError && isPermanentRefusal(error))
      return { refused: true, detail: `the service did not say how its log lost entries: ${error.message}` };
    throw error;
  }
}

/** The beginnings of all generations, and the lost heads of these sizes. */
async function readEvents(
  { service }: Attachment,
  sizes: readonly number[],
  signal: AbortSignal,
): Promise<LogGenerations> {
  let began: ServiceEventBundle[] | null = null;
  const lost: ServiceEventBundle[] = [];
  for (const size of sizes.length === 0 ? [1] : sizes) {
    const answer = await service.logGenerations({ treeSize: Math.max(1, size) }, { signal });
    const events = parseLogGenerations(JSON.stringify(answer));
    began ??= events.began;
    lost.push(...events.lost);
  }
  return { began: began ?? [], lost };
}
