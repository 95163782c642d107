import {
  PREDICATE_BACKUP,
  PREDICATE_RESTORE_TEST,
  STATEMENT_TYPE,
  type BackupStatement,
  type Draw,
  type RestoreTestPredicate,
  type RestoreTestStatement,
} from "@attestore/proof";
import { agentVersion } from "../state/host-facts.ts";
import type { PendingBackup } from "../journal/pending-backup.ts";

/** The signer. */
export interface Signatory {
  readonly orgId: string;
  readonly agentId: string;
}

/** This agent made a backup, and of which source. */
export function backupStatement(
  { orgId, agentId }: Signatory,
  made: PendingBackup,
  sourceId: string,
  backupId: string,
  previous: string | null,
): BackupStatement {
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: backupId, digest: { sha256: made.sha256 } }],
    predicateType: PREDICATE_BACKUP,
    predicate: {
      org_id: orgId,
      agent_id: agentId,
      source_id: sourceId,
      backup_id: backupId,
      started_at: made.started_at,
      finished_at: notBefore(made.started_at, made.finished_at),
      agent_version: agentVersion,
      previous_receipt_sha256: previous,
      size_bytes: made.size_bytes,
      cipher: made.cipher,
      source_metadata: made.source_metadata,
    },
  };
}

/** The backup that a restore test is about. */
export interface TestedBackup {
  readonly id: string;
  readonly sourceId: string;
  readonly sha256: string;
}

export interface RestoreTestOutcome extends Pick<
  RestoreTestPredicate,
  "runtime" | "result" | "reason" | "phases" | "checks" | "profile"
> {
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** This agent restored a backup, with this result. */
export function restoreTestStatement(
  { orgId, agentId }: Signatory,
  backup: TestedBackup,
  { startedAt, finishedAt, runtime, result, reason, phases, checks, profile }: RestoreTestOutcome,
  previous: string | null,
  draw?: Draw,
): RestoreTestStatement {
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: backup.id, digest: { sha256: backup.sha256 } }],
    predicateType: PREDICATE_RESTORE_TEST,
    predicate: {
      org_id: orgId,
      agent_id: agentId,
      source_id: backup.sourceId,
      backup_id: backup.id,
      started_at: startedAt,
      finished_at: notBefore(startedAt, finishedAt),
      agent_version: agentVersion,
      previous_receipt_sha256: previous,
      runtime,
      result,
      ...(reason === undefined ? {} : { reason }),
      ...(phases === undefined ? {} : { phases }),
      checks,
      ...(draw === undefined ? {} : { draw }),
      ...(profile === undefined ? {} : { profile }),
    },
  };
}

/**
 * If the clock was set back in between, the receipt must still be one that the service accepts.
 * Both are RFC 3339 with the same number of characters.
 */
function notBefore(startedAt: string, finishedAt: string): string {
  return finishedAt < startedAt ? startedAt : finishedAt;
}
