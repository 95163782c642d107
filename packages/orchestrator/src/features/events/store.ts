import { byteaArray, plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

const REFERENCES: PreparedQuery = {
  name: "events_references",
  text: `select id, org_id as owner from sources where id = any($1::text[])
    union all select id, org_id as owner from backups where id = any($2::text[])
    union all select id, agent_id as owner from commands where id = any($3::text[])`,
};

/**
 * Who owns each of these records, if it exists: for a source or backup the organisation, for a
 * command the agent.
 */
export async function readOwners(
  session: SqlSession,
  ids: { sources: readonly string[]; backups: readonly string[]; commands: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await session.run<{ id: string; owner: string }>(REFERENCES, [
    plainArray(ids.sources),
    plainArray(ids.backups),
    plainArray(ids.commands),
  ]);
  return new Map(rows.map(({ id, owner }) => [id, owner]));
}

const LINK: PreparedQuery = {
  name: "events_link_commands",
  text: `update commands set outcome = outcome || jsonb_build_object('event_id', linked.event_id)
    from unnest($1::text[], $2::text[]) as linked (id, event_id) where commands.id = linked.id`,
};

/** Writes to a command what came of it. Of several events the last one counts. */
export function linkCommands(session: SqlSession, links: ReadonlyMap<string, string>): Promise<unknown> {
  return session.run(LINK, [plainArray([...links.keys()]), plainArray([...links.values()])]);
}

const RECORDED: PreparedQuery = {
  name: "events_recorded",
  text: "select envelope_sha256, log_index from events where envelope_sha256 = any($1::bytea[])",
};

/**
 * Log index by envelope (base64 of envelope_sha256), of those signed events that are in the log.
 */
export async function readRecordedEvents(
  session: SqlSession,
  envelopes: readonly Buffer[],
): Promise<Map<string, number>> {
  type Row = { envelope_sha256: Buffer; log_index: number };
  const rows = await session.run<Row>(RECORDED, [byteaArray(envelopes)]);
  return new Map(rows.map((row) => [row.envelope_sha256.toString("base64"), row.log_index]));
}
