import { newId } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";

export interface Operator {
  id: string;
  email: string;
  name: string | null;
  created_at: Date;
}

const COLUMNS = ["id", "email", "name", "created_at"] as const;

/** Returns null and writes nothing if an operator has the address already, in any case. */
export async function insertOperator(
  tx: DatabaseTransaction,
  operator: { email: string; name: string | null },
): Promise<Operator | null> {
  const row = await tx
    .insertInto("users")
    .values({ id: newId("user"), role: "operator", ...operator })
    .onConflict((conflict) =>
      conflict
        .expression(sql`lower(email), coalesce(org_id, '')`)
        .where("removed_at", "is", null)
        .doNothing(),
    )
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

/** Whether anybody runs the service for others. */
export async function hasOperator(db: Database): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select exists (
    select from users where role = 'operator' and removed_at is null) as found`.execute(db);
  return rows[0]?.found === true;
}

export async function listOperators(db: Database): Promise<Operator[]> {
  return db
    .selectFrom("users")
    .select(COLUMNS)
    .where("role", "=", "operator")
    .where("removed_at", "is", null)
    .orderBy("id")
    .execute();
}
