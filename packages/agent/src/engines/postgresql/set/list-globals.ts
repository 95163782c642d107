import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { PRINTING, rowsOf } from "../schema.ts";
import { settingValues } from "../printed/setting-values.ts";
import { wordsText } from "../unrestored/unrestored-objects.ts";
import { type GlobalKind, globalObject } from "./global-objects.ts";

const LISTING_MS = 60_000;

/** The source, as far as the listing depends on it. */
export interface ListedServer {
  readonly major: number;
  /** The major version of pg_dumpall. */
  readonly dumpMajor: number;
  /** Whether the dump has the roles' passwords. Only a superuser may read them. */
  readonly hasPasswords: boolean;
}

/**
 * Lists what belongs to the whole server, as pg_dumpall dumps it, and what it leaves out; null if
 * the server does not list it in time.
 */
export async function listGlobals(
  session: PsqlSession,
  server: ListedServer,
): Promise<readonly DatabaseObject[] | null> {
  for (const setting of [...PRINTING, `statement_timeout = ${LISTING_MS}`])
    await session.run(`set ${setting}`);
  const queries = [listing(server), ...(server.hasPasswords ? [PASSWORDS] : [])];
  const objects: DatabaseObject[] = [];
  for (const query of queries) {
    const listed = await session.run(query);
    if (!listed.ok) return null;
    objects.push(...objectsOf(listed.output));
  }
  return objects;
}

/** pg_dumpall leaves out the server's own. */
const OWN = (name: string): string => `${name} !~ '^pg_'`;

/**
 * A version before 16 allowed that a grantor no longer exists. pg_dumpall of version 16 and later
 * writes none for such a server.
 */
const grantor = ({ major, dumpMajor }: ListedServer): string =>
  major >= 16 || dumpMajor < 16 ? "coalesce(g.rolname::text, '')" : "''";

const GRANTS = (from: string, what: string, name: string, acl: string, owner: string): string => `
    select 'grant', concat(x.privilege_type, ' on ${what.toLowerCase()} ', ${name}, ' to ', coalesce(g.rolname, 'PUBLIC')),
      json_build_array('${what}', ${name}, coalesce(g.rolname, 'PUBLIC'), x.privilege_type, x.is_grantable::text)
    from ${from} cross join lateral aclexplode(${acl}) x left join pg_roles g on g.oid = x.grantee where x.grantee <> ${owner}`;

/** What has comments and labels: the catalogue, and what it is called. */
const COMMENTS = (from: string, catalog: string, what: string, name: string): string => `
    select 'comment', concat('${what.toLowerCase()} ', ${name}), json_build_array('${what}', ${name}, shobj_description(oid, '${catalog}'))
    from ${from} where ${OWN(name)} and shobj_description(oid, '${catalog}') is not null
    union all
    select 'security_label', concat(l.provider, ' ${what.toLowerCase()} ', ${name}), json_build_array(l.provider, '${what}', ${name}, l.label)
    from ${from} join pg_shseclabel l on l.objoid = oid and l.classoid = '${catalog}'::regclass where ${OWN(name)}`;

/** Without names: that there are any is what matters. */
const UNDUMPED = `
    select 'setting_of_all_roles', '', json_build_array() from pg_db_role_setting where setdatabase = 0 and setrole = 0
    union all
    select 'built_in_tablespace', '', json_build_array() from pg_tablespace
    where not ${OWN("spcname")} and (spcoptions is not null or spcacl is not null or spcowner <> 10 or shobj_description(oid, 'pg_tablespace') is not null)
    union all
    select 'built_in_role', '', json_build_array() from pg_roles where not ${OWN("rolname")} and shobj_description(oid, 'pg_authid') is not null`;

/** Each row is a JSON array: the kind, the name, and the parts. */
const listing = (server: ListedServer): string => `
  with object(kind, name, parts) as (
    select 'role', rolname::text, json_build_array(rolname, rolsuper::text, rolinherit::text, rolcreaterole::text, rolcreatedb::text,
      rolcanlogin::text, rolreplication::text, rolbypassrls::text, rolconnlimit::text, coalesce(rolvaliduntil::text, ''))
    from pg_roles where ${OWN("rolname")}
    union all
    select 'role_setting', concat(r.rolname, ' ', split_part(value, '=', 1)),
      json_build_array(r.rolname, split_part(value, '=', 1), substr(value, strpos(value, '=') + 1))
    from pg_db_role_setting s join pg_roles r on r.oid = s.setrole cross join lateral unnest(s.setconfig) value
    where s.setdatabase = 0 and ${OWN("r.rolname")}
    union all
    select 'membership', concat(r.rolname, ' to ', m.rolname), json_build_array(r.rolname, m.rolname, a.admin_option::text,
      coalesce(to_jsonb(a)->>'inherit_option', ''), coalesce(to_jsonb(a)->>'set_option', 'true'), ${grantor(server)})
    from pg_auth_members a join pg_roles r on r.oid = a.roleid join pg_roles m on m.oid = a.member left join pg_roles g on g.oid = a.grantor
    where ${OWN("r.rolname")} or ${OWN("m.rolname")}
    union all
    select 'tablespace', spcname::text, json_build_array(spcname, pg_get_userbyid(spcowner),
      case when pg_tablespace_location(oid) like '/%' then pg_tablespace_location(oid) else '' end, coalesce(array_to_string(spcoptions, ', '), ''))
    from pg_tablespace where ${OWN("spcname")}
    union all
    ${GRANTS("pg_tablespace t", "TABLESPACE", "t.spcname", "t.spcacl", "t.spcowner")} and ${OWN("t.spcname")}
    union all
    ${server.major < 15 ? "" : `${GRANTS("pg_parameter_acl p", "PARAMETER", "p.parname", "p.paracl", "10")} union all`}
    ${COMMENTS("pg_roles", "pg_authid", "ROLE", "rolname")}
    union all
    ${COMMENTS("pg_tablespace", "pg_tablespace", "TABLESPACE", "spcname")}
    union all
    ${UNDUMPED}
  )
  select json_build_array(kind, name, parts::text) from object`;

const PASSWORDS = `
  select json_build_array('role_password', rolname, json_build_array(rolname, rolpassword)::text)
  from pg_authid where rolpassword is not null and ${OWN("rolname")}`;

function objectsOf(output: string): DatabaseObject[] {
  return rowsOf(output).map(([kind = "", name = "", parts = "[]"]) => {
    const values = (JSON.parse(parts) as unknown[]).map(String);
    return globalObject(kind as GlobalKind, name, (PARTS.get(kind) ?? same)(values));
  });
}

const same = (values: readonly string[]): readonly string[] => values;

/** By kind, the function that brings the parts into the form in which a dump has them. */
const PARTS: ReadonlyMap<string, typeof same> = new Map([
  [
    "role_setting",
    ([role = "", name = "", value = ""]: readonly string[]) => [role, name, settingValues(name, value)],
  ],
  ["tablespace", (values: readonly string[]) => [...values.slice(0, -1), wordsText(values.at(-1) ?? "")]],
]);
