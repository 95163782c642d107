import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import { MAIL_PURPOSE } from "../../platform/mail/outbox.ts";
import { tokenPurpose } from "../attach/review.ts";
import { secretPurpose } from "../notifications/channels/webhook-secret.ts";
import { ANSWER_PURPOSE } from "../../platform/http/idempotency.ts";

export interface SealedColumn {
  table: string;
  /** Its primary key. */
  key: string;
  column: string;
  /** Condition for rows whose column is sealed; rows that hold null are left out anyway. */
  where?: string;
  purpose: (key: string) => string;
}

/** Every sealed column of the database. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: "idempotency_keys",
    key: "scope_sha256",
    column: "body",
    where: "sealed",
    purpose: () => ANSWER_PURPOSE,
  },
  { table: "mail_outbox", key: "id", column: "sealed", purpose: () => MAIL_PURPOSE },
  { table: "bootstraps", key: "id", column: "sealed_token", purpose: tokenPurpose },
  ...["sealed_secret", "former_sealed_secret"].map((column) => ({
    table: "notification_channels",
    key: "id",
    column,
    purpose: secretPurpose,
  })),
];

/**
 * Opens everything that is sealed with one key and seals it with another, in the transaction:
 * meanwhile nobody reads or writes the tables. Returns how many there were. Rejects if one can't be
 * opened; then nothing must be committed.
 */
export async function resealAll(tx: DatabaseTransaction, from: Sealer, to: Sealer): Promise<number> {
  const tables = [...new Set(SEALED_COLUMNS.map(({ table }) => table))];
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in access exclusive mode`.execute(
    tx,
  );
  let count = 0;
  for (const { table, key, column, where, purpose } of SEALED_COLUMNS) {
    const { rows } = await sql<{ key: string | Buffer; box: Buffer }>`
      select ${sql.ref(key)} as key, ${sql.ref(column)} as box from ${sql.table(table)}
      where ${sql.ref(column)} is not null ${sql.raw(where === undefined ? "" : `and ${where}`)}`.execute(tx);
    for (const row of rows) {
      const bound = purpose(String(row.key));
      const box = await to.seal(await from.open(row.box, bound), bound);
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${box} where ${sql.ref(key)} = ${row.key}`.execute(
        tx,
      );
      count += 1;
    }
  }
  return count;
}
