import { sql } from "kysely";
import { INVITATION_S, type OrgRole } from "@attestore/contract";
import type { Database, DatabaseTransaction, UsersTable } from "../../platform/database/schema.ts";
import type { Page } from "../../platform/http/route/pagination.ts";

export interface User {
  id: string;
  org_id: string | null;
  email: string;
  name: string | null;
  role: UsersTable["role"];
  status: "active" | "pending";
  created_at: Date;
}

/** A membership, or an invitation that has not expired. */
const STANDS = sql<boolean>`(status = 'active' or created_at > now() - make_interval(secs => ${INVITATION_S}::int))`;

const COLUMNS = ["id", "org_id", "email", "name", "role", "status", "created_at"] as const;

/** Returns null and writes nothing if a member of the organisation has the address, in any case. */
export async function insertUser(
  tx: DatabaseTransaction,
  user: Omit<User, "org_id" | "role"> & { org_id: string; role: OrgRole },
): Promise<User | null> {
  const row = await tx
    .insertInto("users")
    .values(user)
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

/**
 * Everything that somebody with this address (in lower case) is, without removed users: an operator
 * first, then the membership that was used last, then invitations, oldest first.
 */
export async function listByEmail(db: Database, email: string): Promise<User[]> {
  return db
    .selectFrom("users")
    .select(COLUMNS)
    .where(sql`lower(email)`, "=", email)
    .where("removed_at", "is", null)
    .where(STANDS)
    .orderBy(sql`status = 'active'`, "desc")
    .orderBy(sql`role = 'operator'`, "desc")
    .orderBy(
      sql`(select max(last_used_at) from sessions where sessions.user_id = users.id and sessions.operator_id is null)`,
      (order) => order.desc().nullsLast(),
    )
    .orderBy("id")
    .execute();
}

/** The active membership of an organisation of somebody with this address (in lower case). */
export async function findMembership(db: Database, orgId: string, email: string): Promise<User | null> {
  const row = await db
    .selectFrom("users")
    .select(COLUMNS)
    .where(sql`lower(email)`, "=", email)
    .where("org_id", "=", orgId)
    .where("status", "=", "active")
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row ?? null;
}

/** Null if this is not a pending invitation of this address (in lower case). */
export async function setAccepted(
  tx: DatabaseTransaction,
  invitation: { id: string; email: string },
): Promise<User | null> {
  const row = await tx
    .updateTable("users")
    .set({ status: "active" })
    .where("id", "=", invitation.id)
    .where(sql`lower(email)`, "=", invitation.email)
    .where("status", "=", "pending")
    .where("removed_at", "is", null)
    .where(STANDS)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

/** False if this is not a pending invitation of this address (in lower case). */
export async function setDeclined(
  tx: DatabaseTransaction,
  invitation: { id: string; email: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({ removed_at: sql<Date>`now()` })
    .where("id", "=", invitation.id)
    .where(sql`lower(email)`, "=", invitation.email)
    .where("status", "=", "pending")
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Of this address (in any case) in that organisation: an expired one makes room for another. */
export async function removeExpiredInvitation(
  tx: DatabaseTransaction,
  orgId: string,
  email: string,
): Promise<void> {
  await tx
    .updateTable("users")
    .set({ removed_at: sql<Date>`now()` })
    .where("org_id", "=", orgId)
    .where(sql`lower(email)`, "=", email.toLowerCase())
    .where("removed_at", "is", null)
    .where(sql<boolean>`not ${STANDS}`)
    .execute();
}

/** Operators too; no removed users. */
export async function findUser(db: Database, id: string): Promise<User | null> {
  const row = await db
    .selectFrom("users")
    .select(COLUMNS)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row ?? null;
}

/** Newest first, with one more than the page holds. */
export async function listUsers(
  db: Database,
  orgId: string,
  { page, from, to }: { page: Page; from: Date | null; to: Date | null },
): Promise<User[]> {
  let query = db
    .selectFrom("users")
    .select(COLUMNS)
    .where("org_id", "=", orgId)
    .where("removed_at", "is", null);
  if (page.before !== null) query = query.where("id", "<", page.before);
  if (from !== null) query = query.where("created_at", ">=", from);
  if (to !== null) query = query.where("created_at", "<", to);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

export async function countOwners(tx: DatabaseTransaction, orgId: string): Promise<number> {
  const { count } = await tx
    .selectFrom("users")
    .select((users) => users.fn.countAll<number>().as("count"))
    .where("org_id", "=", orgId)
    .where("role", "=", "owner")
    .where("status", "=", "active")
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function updateUser(
  tx: DatabaseTransaction,
  id: string,
  change: { role?: OrgRole; name?: string | null },
): Promise<User> {
  return tx
    .updateTable("users")
    .set(change)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

export async function setRemoved(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx
    .updateTable("users")
    .set({ removed_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}
