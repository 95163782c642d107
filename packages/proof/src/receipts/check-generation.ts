import { parseLogName } from "../log/generation-name.ts";
import { type Rollback, requireNoFork, rollbackText, verifyGenerations } from "../log/rolled-back.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import type { ReceiptBundle } from "./bundle.ts";
import { failed, held, notChecked, type ReceiptCheck } from "./check.ts";

export interface CheckedGeneration {
  /** None for the first generation, which has nothing to show. */
  checks: ReceiptCheck[];
  /** Null if they could not be verified. */
  rollbacks: readonly Rollback[] | null;
}

/**
 * Checks that each generation up to the bundle's began with the service event about what was
 * lost. `rollbacks` are those that something else has shown.
 */
export async function checkGeneration(
  { log, generations }: ReceiptBundle,
  { logKey, rollbacks }: { logKey?: NoteVerifier | undefined; rollbacks?: readonly Rollback[] | undefined },
): Promise<CheckedGeneration> {
  try {
    const { generation } = parseLogName(log.origin);
    if (generation === 1)
      return generations === undefined
        ? { checks: [], rollbacks: [] }
        : { checks: [failed("generation", "the log's first generation began with no event")], rollbacks: [] };
    const where = `${log.origin} is generation ${generation} of its log`;
    if (rollbacks !== undefined) return shown(where, rollbacks);
    if (generations === undefined)
      return open(`${where}, and the bundle lacks the events that began it: export it again`);
    if (logKey === undefined) return open(`${where}; the log's verifier key is needed`);
    const verified = await verifyGenerations(generations, logKey, generation);
    requireNoFork(verified, []);
    return shown(where, verified);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    return { checks: [failed("generation", error.message)], rollbacks: null };
  }
}

function shown(where: string, rollbacks: readonly Rollback[]): CheckedGeneration {
  return { checks: [held("generation", [where, ...rollbacks.map(rollbackText)].join("; "))], rollbacks };
}

function open(why: string): CheckedGeneration {
  return { checks: [notChecked("generation", why)], rollbacks: null };
}
