import type { SourceRecord } from "@attestore/contract";
import type { ConfiguredSource } from "./configured.ts";

/** A source as the contract's section 10 shows it. */
export function sourceRecord(source: ConfiguredSource): SourceRecord {
  const { id, org_id, slug, name, engine, agent_id, test_agent_id } = source;
  const { schedule, retention, objectives } = source;
  return {
    id,
    created_at: source.created_at.toISOString(),
    org_id,
    slug,
    name,
    engine,
    agent_id,
    test_agent_id,
    schedule,
    retention,
    objectives,
    last_backup_at: source.last_backup_at?.toISOString() ?? null,
    last_proven_at: source.last_proven_at?.toISOString() ?? null,
    next_backup_at: source.next_backup_at?.toISOString() ?? null,
    next_restore_test_at: source.next_restore_test_at?.toISOString() ?? null,
  };
}
