import type { SourceRecord } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import type { ConfiguredSource } from "./configured-source.ts";
import { readProofs, type SourceProof } from "./read-proofs.ts";

/**
 * Sources of an organisation as the contract's section 10 shows them, at that moment; with `until`,
 * by the records until then.
 */
export async function sourceRecords(
  db: Database,
  orgId: string,
  sources: readonly ConfiguredSource[],
  at: Date,
  until: Date | "infinity" = "infinity",
): Promise<SourceRecord[]> {
  const ids = sources.map(({ id }) => id);
  const proofs = await readProofs(db, { orgId, ids }, at, until);
  return sources.map((source) => serialize(source, proofs.get(source.id)));
}

export async function sourceRecord(db: Database, source: ConfiguredSource, at: Date): Promise<SourceRecord> {
  const [record] = await sourceRecords(db, source.org_id, [source], at);
  if (record === undefined) throw new Error("a source has no record");
  return record;
}

function serialize(source: ConfiguredSource, proof: SourceProof | undefined): SourceRecord {
  const { id, org_id, slug, name, engine, agent_id, test_agent_id } = source;
  const { schedule, retention, objectives, labels } = source;
  // A source that is gone by now counts as never backed up.
  const because = proof === undefined ? "never_backed_up" : proof.because;
  return {
    id,
    created_at: source.created_at.toISOString(),
    org_id,
    slug,
    name,
    engine,
    agent_id,
    test_agent_id,
    tags: labels.tags ?? [],
    environment: labels.environment ?? null,
    schedule,
    retention,
    objectives,
    last_backup_at: source.last_backup_at?.toISOString() ?? null,
    last_proven_at: source.last_proven_at?.toISOString() ?? null,
    proven: because === null,
    not_proven_because: because,
    next_backup_at: source.next_backup_at?.toISOString() ?? null,
    next_restore_test_at: source.next_restore_test_at?.toISOString() ?? null,
  };
}
