import type { HeartbeatRequest, RegisteredSource } from "@attestore/contract";
import { runPrepared, type PreparedQuery } from "../../platform/database/prepared.ts";
import { type NewestHead, newestHeadOf } from "../../log/heads.ts";
import { isDue } from "../config-requests/store.ts";
import { labelsOf } from "../sources/declared-sources.ts";
import type { Database } from "../../platform/database/schema.ts";

/**
 * For a heartbeat without news in either direction; with the newest head of the organisation's log.
 */
export interface FastPath extends NewestHead {
  /** When the agent was last seen. */
  before: Date;
  sources: RegisteredSource[];
}

/**
 * $1 agent, $2 organisation, $3 to $5 what it reports about its host, $6 now, $7 spool, $8
 * encryption, $9, $10 and $12 what it declares, $11 see redeliveryDue, $13 remote_config. The
 * commit does not wait for the disk: if a database crash loses it, the agent reports the same again
 * within a minute.
 */
const NOTE: PreparedQuery = {
  name: "heartbeat_note_routine",
  text: `with known as (
      select id, slug, engine, agent_id, labels from sources where org_id = $2 and slug = any ($9::text[]) and removed_at is null
    ), before as (
      select last_seen_at from agents where id = $1
    ), noted as (
      update agents set last_seen_at = $6, spool = $7, encryption = $8 from before
      where agents.id = $1 and agents.org_id = $2 and status = 'active' and before.last_seen_at is not null
        and (agent_version, hostname, platform, remote_config) = ($3, $4, $5, $13)
        and not exists (select from config_requests where ${isDue("$1", "$6")})
        and not exists (
          select from commands join sources on sources.id = commands.source_id
          where commands.agent_id = $1 and commands.ended_at is null and sources.removed_at is null
            and (commands.status = 'queued' or (commands.status = 'delivered' and commands.delivered_at < $11))
        )
        and not exists (
          select from unnest($9::text[], $10::text[], $12::jsonb[]) as declared (slug, engine, labels) left join known using (slug)
          where case when known.id is not null then known.agent_id = $1 and (known.engine <> declared.engine or known.labels <> declared.labels)
            else not exists (
              select from sources as removed
              where removed.org_id = $2 and removed.slug = declared.slug and removed.agent_id = $1
            ) end
        )
      returning before.last_seen_at
    )
    select noted.last_seen_at as before, head.*, set_config('synchronous_commit', 'off', true) as commit,
      (select coalesce(json_agg(json_strip_nulls(json_build_object('id', id, 'slug', slug, 'agent_id', nullif(agent_id, $1))) order by id), '[]') from known) as sources
    from noted cross join (${newestHeadOf("$2")}) as head`,
};

/**
 * Handles the heartbeat that nearly all are: the agent acknowledges nothing, reports the same host
 * and sources as before, and has no command waiting. One statement, because ten thousand agents
 * send one each minute. It changes nothing and returns null if there is more to do, if the agent
 * has never been seen, or if it is revoked. It runs as the service, not as the organisation (see
 * scopeToOrg): everything it reads is selected by the token's agent or organisation.
 */
export async function noteOnFastPath(
  db: Database,
  agent: { id: string; orgId: string },
  body: HeartbeatRequest,
  now: Date,
  due: Date,
): Promise<FastPath | null> {
  const { agent_version, hostname, platform, sources, spool, encryption, acks, remote_config } = body;
  if (acks.length > 0) return null;
  const [row] = await runPrepared<FastPath>(db, NOTE, [
    agent.id,
    agent.orgId,
    agent_version,
    hostname,
    platform,
    now,
    spool === undefined ? null : JSON.stringify(spool),
    encryption === undefined ? null : JSON.stringify(encryption),
    sources.map(({ slug }) => slug),
    sources.map(({ engine }) => engine),
    due,
    sources.map((source) => JSON.stringify(labelsOf(source))),
    remote_config === true,
  ]);
  return row ?? null;
}
