import type { Statement } from "@attestore/proof";
import { sql } from "kysely";
import {
  type ArchivedEnvelopes,
  ENVELOPE_BYTES,
  ENVELOPE_PLACE,
} from "../../log/archive/archived-envelopes.ts";
import type { Database } from "../../platform/database/schema.ts";
import { idsWithin } from "../../platform/http/route/pagination.ts";
import { type Backup, LISTED_METADATA } from "../backups/store.ts";
import { predicateIn } from "../receipts/stored-statement.ts";
import { type OtherObjects, otherObjectsIn } from "../schema-changes/other-objects.ts";
import type { SchemaChanges } from "../schema-changes/changes.ts";

/** How a backup was made, and the newest test that restored it. */
export interface ObservedBackup {
  id: string;
  made_at: Date;
  agent_id: string;
  metadata: Backup["source_metadata"];
  /** Null in what engines with one hash and earlier agents report. */
  exactSchemaHash: string | null;
  /** Null if the engine or agent reports none. */
  others: OtherObjects | null;
  /** Changes of its schema since the backup before, if both have a summary. */
  schemaChanges: SchemaChanges | null;
  cipher: { name: string; recipients: string[] };
  agentVersion: string | null;
  test: ObservedTest | null;
}

export interface ObservedTest {
  at: Date;
  runtime: Readonly<Record<string, unknown>>;
}

/**
 * Limit for the receipts that one call reads. They contain their checks: a hundred backups fit
 * unless somebody fills them on purpose.
 */
const MAX_READ_BYTES = 8 * 1024 * 1024;
/** Those of agents have a tenth of it. */
const MAX_KINDS_BYTES = 4096;
/** How many receipts are read and parsed before other requests get a turn. */
const PORTION_BYTES = 1024 * 1024;

/**
 * The source's backups before that id, newest first. If their receipts are too large there are
 * fewer than `limit`, but at least two, and `isCut` is set.
 */
export async function observeBackups(
  db: Database,
  envelopes: ArchivedEnvelopes,
  sourceId: string,
  before: string | null,
  limit: number,
): Promise<{ backups: ObservedBackup[]; isCut: boolean }> {
  let query = db
    .selectFrom("backups")
    .select(["id", "made_at", "agent_id", "cipher", "schema_changes as schemaChanges"])
    .select(LISTED_METADATA.as("metadata"))
    .select(
      // Agents report what they like.
      sql<string | null>`substring(source_metadata ->> 'exact_schema_hash' from '^[0-9a-f]{64}$')`.as(
        "exactSchemaHash",
      ),
    )
    .select(
      sql<unknown>`case when octet_length((source_metadata #> '{other_objects,kinds}')::text) <= ${MAX_KINDS_BYTES}
        and octet_length(coalesce(source_metadata #> '{other_objects,definitions}', '{}')::text) <= ${MAX_KINDS_BYTES}
        then jsonb_build_object('sha256', source_metadata #> '{other_objects,sha256}', 'kinds', source_metadata #> '{other_objects,kinds}',
          'definitions', source_metadata #> '{other_objects,definitions}') end`.as("others"),
    )
    .where("source_id", "=", sourceId);
  if (before !== null) query = query.where("id", "<", before);
  const all = await query.orderBy("id", "desc").limit(limit).execute();
  const receipts = await listReceipts(
    db,
    all.map(({ id }) => id),
  );
  const rows = all.slice(0, countWithin(all, receipts));
  const predicates = await readPredicates(
    db,
    envelopes,
    receipts.filter(({ backup_id }) => rows.some(({ id }) => id === backup_id)),
  );
  const backups = rows.map((row) => {
    const made = predicates.get(`backup ${row.id}`);
    const tested = predicates.get(`restore_test ${row.id}`);
    return {
      ...row,
      others: otherObjectsIn(row.others),
      agentVersion: made?.predicate.agent_version ?? null,
      test: tested === undefined ? null : testOf(tested),
    };
  });
  return { backups, isCut: rows.length < all.length };
}

function testOf({ at, predicate }: Signed): ObservedTest | null {
  return "runtime" in predicate ? { at, runtime: { ...predicate.runtime } } : null;
}

interface Signed {
  at: Date;
  predicate: Statement["predicate"];
}

interface ReceiptSize {
  id: string;
  backup_id: string;
  bytes: number;
}

/** The newest receipt of each kind and backup. */
async function listReceipts(db: Database, backupIds: readonly string[]): Promise<ReceiptSize[]> {
  if (backupIds.length === 0) return [];
  return db
    .selectFrom("receipts")
    .distinctOn(["backup_id", "kind"])
    .select(["id", "backup_id", ENVELOPE_BYTES.as("bytes")])
    .where("backup_id", "in", backupIds)
    .orderBy("backup_id")
    .orderBy("kind")
    .orderBy("id", "desc")
    .execute();
}

function countWithin(backups: readonly { id: string }[], receipts: readonly ReceiptSize[]): number {
  const bytes = new Map<string, number>();
  for (const receipt of receipts)
    bytes.set(receipt.backup_id, (bytes.get(receipt.backup_id) ?? 0) + receipt.bytes);
  const sizes = backups.map(({ id }) => ({ id, bytes: bytes.get(id) ?? 0 }));
  return Math.max(Math.min(2, backups.length), idsWithin(sizes, MAX_READ_BYTES).ids.length);
}

async function readPredicates(
  db: Database,
  envelopes: ArchivedEnvelopes,
  receipts: readonly ReceiptSize[],
): Promise<Map<string, Signed>> {
  const predicates = new Map<string, Signed>();
  for (let rest = receipts; rest.length > 0;) {
    const { ids } = idsWithin(rest, PORTION_BYTES);
    rest = rest.slice(ids.length);
    const rows = await db
      .selectFrom("receipts")
      .select(["backup_id", "kind", "created_at"])
      .select(ENVELOPE_PLACE)
      .where("id", "in", ids)
      .execute();
    for (const { kind, backup_id, envelope, created_at } of envelopes.complete(rows))
      predicates.set(`${kind} ${backup_id}`, { at: created_at, predicate: predicateIn(envelope) });
  }
  return predicates;
}
