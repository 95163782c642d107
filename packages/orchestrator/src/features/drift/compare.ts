import type { DriftIndicator } from "@attestore/contract";
import { differ } from "../schema-changes/other-objects.ts";
import type { ObservedBackup, ObservedTest } from "./observed.ts";

const METADATA = ["engine", "engine_version", "dump_format"] as const;
/** Triggers, functions, grants and other objects, of which no schema hash says anything. */
export const OTHERS = "other_objects";
/**
 * Fields in which the runtime of a restore test can be compared with the backup that it restores.
 */
const SHARED = ["engine", "engine_version"] as const;

/** The changes since the backup before. */
export function driftOfBackup(before: ObservedBackup, after: ObservedBackup): DriftIndicator[] {
  const found: DriftIndicator[] = [];
  const report = (kind: DriftIndicator["kind"], field: string, old: unknown, now: unknown): void => {
    const since = after.made_at.toISOString();
    const backups = { backup_id: after.id, previous_backup_id: before.id };
    found.push({ kind, field, before: old, after: now, since, ...backups });
  };
  const compare = (kind: DriftIndicator["kind"], field: string, old: unknown, now: unknown): void => {
    if (JSON.stringify(old) !== JSON.stringify(now)) report(kind, field, old, now);
  };
  // `schema_hash` of PostgreSQL has no casts and parentheses.
  if (before.exactSchemaHash !== null && after.exactSchemaHash !== null)
    compare("schema", "exact_schema_hash", before.exactSchemaHash, after.exactSchemaHash);
  else compare("schema", "schema_hash", before.metadata["schema_hash"], after.metadata["schema_hash"]);
  const [othersBefore, othersAfter] = [before.others, after.others];
  // Not `compare`: two lists may have the same numbers and other names.
  if (othersBefore !== null && othersAfter !== null && differ(othersBefore, othersAfter))
    report("schema", OTHERS, othersBefore.kinds, othersAfter.kinds);
  for (const field of METADATA) compare("environment", field, before.metadata[field], after.metadata[field]);
  compare("environment", "cipher.name", before.cipher.name, after.cipher.name);
  compare("environment", "cipher.recipients", sorted(before.cipher), sorted(after.cipher));
  compare("environment", "agent_id", before.agent_id, after.agent_id);
  if (before.agentVersion !== null && after.agentVersion !== null)
    compare("environment", "agent_version", before.agentVersion, after.agentVersion);
  return found;
}

/** The order of recipients does not matter. */
function sorted({ recipients }: ObservedBackup["cipher"]): string[] {
  return recipients.toSorted();
}

/**
 * The differences between where the backup was made and where it was restored, unless the test
 * before showed the same; and the changes since the test before.
 */
export function driftOfTest(backup: ObservedBackup, earlier: ObservedBackup | null): DriftIndicator[] {
  if (backup.test === null) return [];
  const { runtime, at } = backup.test;
  const before = earlier?.test ?? null;
  const found: DriftIndicator[] = [];
  const report = (field: string, old: unknown, now: unknown): void => {
    found.push({
      kind: "environment",
      field: `runtime.${field}`,
      before: old,
      after: now,
      since: at.toISOString(),
      backup_id: backup.id,
    });
  };
  for (const field of SHARED) {
    const [made, restored] = [backup.metadata[field], runtime[field]];
    const isKnown =
      before !== null && earlier?.metadata[field] === made && before.runtime[field] === restored;
    if (made !== restored && !isKnown) report(field, made, restored);
  }
  if (before === null) return found;
  for (const field of ["kind", "image_digest"]) {
    const [old, now] = [valueOf(before, field), valueOf(backup.test, field)];
    if (old !== now) report(field, old, now);
  }
  return found;
}

function valueOf(test: ObservedTest, field: string): unknown {
  return test.runtime[field] ?? null;
}
