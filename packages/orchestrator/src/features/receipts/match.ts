import { ApiError } from "../../platform/errors/api-error.ts";
import type { ReceiptEntry } from "./receipt-entry.ts";
import { mismatch } from "./verify-submission.ts";

/** What the records say about a receipt's backup and its source. */
export interface BackupFacts {
  id: string;
  org_id: string;
  source_id: string;
  /** The agent that registered it. */
  agent_id: string;
  sha256: Buffer;
  size_bytes: number;
  registered_at: Date;
  source_agent_id: string;
  source_test_agent_id: string | null;
}

/**
 * The error for a receipt that contradicts the records, or null. A backup of another organisation
 * counts as unknown. Who may test a source's backups is checked separately.
 */
export function mismatchOf(entry: ReceiptEntry, facts: BackupFacts | undefined): ApiError | null {
  const { predicate, subject } = entry.statement;
  if (facts === undefined || facts.org_id !== entry.orgId)
    return new ApiError("backup_unknown", `The backup ${predicate.backup_id} is not registered.`);
  if (predicate.source_id !== facts.source_id)
    return mismatch("source_id", "another source than the backup's");
  if (subject[0].digest.sha256 !== facts.sha256.toString("hex"))
    return mismatch("subject.digest", "another digest than the registered ciphertext's");
  if ("size_bytes" in predicate) {
    if (predicate.size_bytes !== facts.size_bytes)
      return mismatch("size_bytes", "another size than the registered ciphertext's");
    if (entry.agentId !== facts.agent_id)
      return mismatch("agent_id", "an agent that did not make this backup");
  }
  return null;
}

/** Whether an agent currently runs the source's restore tests. */
export function isTester(agentId: string, facts: BackupFacts): boolean {
  return agentId === facts.source_agent_id || agentId === facts.source_test_agent_id;
}

export function notTester(): ApiError {
  return mismatch("agent_id", "an agent that does not run this source's restore tests");
}
