import { plainArray } from "../../log/packed.ts";
import type { SqlSession, Statement } from "../../log/sql-session.ts";

const REFERENCES: Statement = {
  name: "events_references",
  text: `select id, org_id from sources where id = any($1::text[])
    union all select id, org_id from backups where id = any($2::text[])
    union all select id, org_id from commands where id = any($3::text[])`,
};

/** The organisation of each of these records that exists. */
export async function readOwners(
  session: SqlSession,
  ids: { sources: readonly string[]; backups: readonly string[]; commands: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await session.run<{ id: string; org_id: string }>(REFERENCES, [
    plainArray(ids.sources),
    plainArray(ids.backups),
    plainArray(ids.commands),
  ]);
  return new Map(rows.map(({ id, org_id }) => [id, org_id]));
}
