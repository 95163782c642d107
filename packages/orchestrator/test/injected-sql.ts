/**
 * SQL that somebody smuggled into the service's own: before each statement of the service another
 * one runs on the same connection, in the same transaction and as the same role, which counts the
 * rows of every table of organisations that name what another organisation has.
 */
import pg from "pg";
import { SERVICE_ROLE } from "../src/platform/database/roles.ts";
import type { TestService } from "./service.ts";

/** What was seen where a statement ran. */
export interface Seen {
  /** The statement's text. */
  statement: string;
  role: string;
  /** Whose transaction it was; null where it was nobody's. */
  orgId: string | null;
  /** Tables of which rows of somebody else's were counted. Looked for as attestore_tenant only. */
  others: string[];
}

/** By organisation, the ids of what it has. */
export type Secrets = Readonly<Record<string, readonly string[]>>;

/** For a superuser: has the database count what is whose. */
export async function prepareInjection({ pool }: TestService): Promise<void> {
  await pool.query(`
    create function injected_count(whose jsonb, own text) returns text[] language plpgsql as $$
    declare
      name text;
      n bigint;
      others text[] := '{}';
    begin
      for name in select relname from pg_class where relkind in ('r', 'p') and relrowsecurity and relnamespace = current_schema()::regnamespace
        order by relname
      loop
        -- A row is written out once, and not for each id that is looked for in it.
        execute format('select count(*) from (select to_jsonb(t)::text as whole from %I as t offset 0) as row where exists (
          select from jsonb_each($1) as org (id, ids), jsonb_array_elements_text(ids) as secret
          where org.id is distinct from $2 and position(secret in row.whole) > 0)', name) into n using whose, own;
        if n > 0 then others := others || name; end if;
      end loop;
      return others;
    end $$;
    create function injected(whose jsonb) returns table (role text, org_id text, others text[]) language sql as $$
      select current_user::text, nullif(current_setting('attestore.org_id', true), ''),
        case when current_user = 'attestore_tenant' then injected_count(whose, current_setting('attestore.org_id', true)) end
    $$`);
}

/** Everything that the service's connections ran while `run` did. */
export async function injectingInto(secrets: Secrets, run: () => Promise<unknown>): Promise<Seen[]> {
  const { prototype } = pg.Client;
  // oxlint-disable-next-line typescript/unbound-method -- called with the client that it is called on
  const original = prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
  const looks: Promise<Seen | null>[] = [];
  prototype.query = function query(this: pg.Client, ...args: unknown[]): unknown {
    if (this.user === SERVICE_ROLE) looks.push(look(this, statementOf(args[0])));
    return original.apply(this, args);
  } as typeof prototype.query;
  const look = async (client: pg.Client, statement: string): Promise<Seen | null> => {
    const asked = original.call(client, "select * from injected($1)", [JSON.stringify(secrets)]);
    // In a transaction that has failed nothing runs any more.
    const answer = await (asked as Promise<pg.QueryResult<Found>>).catch(() => null);
    const row = answer?.rows[0];
    if (row === undefined) return null;
    const orgId = row.role === "attestore_tenant" ? row.org_id : null;
    return { statement, role: row.role, orgId, others: row.others ?? [] };
  };
  try {
    await run();
  } finally {
    prototype.query = original as typeof prototype.query;
  }
  return (await Promise.all(looks)).filter((seen) => seen !== null);
}

interface Found {
  role: string;
  org_id: string | null;
  others: string[] | null;
}

function statementOf(query: unknown): string {
  if (typeof query === "string") return query;
  return typeof query === "object" && query !== null && "text" in query ? String(query.text) : "";
}
