import type { Pool } from "pg";
import type { Logger } from "../logging/logger.ts";

export interface ServicePrivileges {
  /** The role that the service connected as. */
  role: string;
  /**
   * The role's privileges beyond those that the service needs, in words; empty if there are none.
   */
  excess: string[];
}

/** What somebody could do who runs their own statements in the service's sessions. */
export async function readServicePrivileges(pool: Pool): Promise<ServicePrivileges> {
  const { rows } = await pool.query<{
    role: string;
    is_superuser: boolean;
    bypasses: boolean;
    makes_roles: boolean;
    owns: boolean;
  }>(
    `select rolname::text as role, rolsuper as is_superuser, rolbypassrls as bypasses, rolcreaterole as makes_roles,
      exists (select from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
        and pg_has_role(session_user, relowner, 'usage')) as owns
    from pg_roles where rolname = session_user`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a session has no role");
  const excess = [
    ...(row.is_superuser ? ["is a superuser"] : []),
    ...(row.bypasses ? ["bypasses row-level security"] : []),
    ...(row.makes_roles ? ["may create roles"] : []),
    ...(row.owns ? ["owns the tables"] : []),
  ];
  return { role: row.role, excess };
}

export const SEPARATE_THEM = 'Give the service a role of its own: docs/operate.md, "A database of your own".';

export async function warnOfPrivileges(pool: Pool, log: Logger): Promise<void> {
  const { role, excess } = await readServicePrivileges(pool);
  if (excess.length > 0)
    log.warn(
      { role, excess },
      `the service's sessions can switch back to the role of DATABASE_URL, which has more rights than the service needs. ${SEPARATE_THEM}`,
    );
}
