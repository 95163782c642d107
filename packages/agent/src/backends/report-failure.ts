import { newId, type AgentEventKind } from "@attestore/contract";
import { noSpace } from "../errors/no-space.ts";
import { RunError } from "../errors/run-error.ts";
import { DamagedFile } from "../state/damaged-file.ts";
import type { Layout } from "../state/layout.ts";
import { UserError } from "../errors/user-error.ts";
import { ServiceError } from "../transport/service-error.ts";
import { readSourceIds } from "../state/source-ids.ts";
import { spoolEvent } from "../receipts/spooled-event.ts";

export interface FailedRun {
  readonly kind: AgentEventKind;
  /** Its slug. */
  readonly source: string;
  readonly commandId: string | null;
  readonly backupId?: string | undefined;
  readonly error: unknown;
}

/**
 * Puts what kept a run from its result into the spool, for the log: failures are reported as well
 * as successes.
 */
export async function reportFailure(
  { layout }: { readonly layout: Layout },
  failed: FailedRun,
): Promise<void> {
  const sourceId = (await readSourceIds(layout)).get(failed.source);
  const { reason, message } = describe(failed.error);
  await spoolEvent(layout, failed.commandId ?? newId("event"), {
    kind: failed.kind,
    ...(sourceId === undefined ? {} : { source_id: sourceId }),
    ...(failed.backupId === undefined ? {} : { backup_id: failed.backupId }),
    ...(failed.commandId === null ? {} : { command_id: failed.commandId }),
    occurred_at: new Date().toISOString(),
    detail: { reason, message: message.slice(0, 2000) },
  });
}

/** Reports a run that was cut off as `interrupted`, by a signal or by the death of the process. */
export const INTERRUPTED = new RunError("interrupted", "the agent was stopped during the run");

function describe(error: unknown): { reason: string; message: string } {
  if (
    error instanceof RunError ||
    error instanceof UserError ||
    error instanceof ServiceError ||
    error instanceof DamagedFile
  )
    return { reason: error.code, message: error.message };
  const full = noSpace(error);
  if (full !== null) return { reason: "disk_full", message: full };
  // A defect of ours may contain anything, including what must not leave the host.
  return { reason: "internal", message: "the agent failed; its own log says why" };
}
