import type { HeartbeatRequest, RegisteredSource } from "@attestore/contract";
import { Gathered } from "../../platform/database/gathered.ts";
import { runPrepared, type PreparedQuery } from "../../platform/database/prepared.ts";
import { type NewestHead, newestHeadOf } from "../../log/heads/heads.ts";
import { isDue } from "../config-requests/store.ts";
import { labelsOf } from "../sources/declared-sources.ts";
import type { Database } from "../../platform/database/schema.ts";

/**
 * For a heartbeat that says nothing new and gets nothing new; with the newest head of the
 * organisation's log.
 */
export interface FastPath extends NewestHead {
  /** When the agent was last seen. */
  before: Date;
  sources: RegisteredSource[];
}

export interface GivenHeartbeat {
  agent: { id: string; orgId: string };
  body: HeartbeatRequest;
  now: Date;
  /** See redeliveryDue. */
  due: Date;
}

/**
 * $1 has the heartbeats, as JSON. A row that somebody else holds is passed over, because a
 * statement that held some agents while it waited for others could stop a batch of the log, which
 * waits for them. The commit does not wait for the disk: whatever a database crash takes back, the
 * agent says again within a minute.
 *
 * Each agent is looked at in a subquery that the planner cannot take apart: while it has no
 * statistics of a table, it would read all agents for each heartbeat.
 */
const NOTE: PreparedQuery = {
  name: "heartbeat_note_many",
  text: `with given as materialized (
      select * from jsonb_to_recordset($1::jsonb) as given (agent_id text, org_id text, agent_version text, hostname text, platform text,
        seen_at timestamptz, due timestamptz, spool jsonb, encryption jsonb, remote_config boolean, declared jsonb)
    ), taken as materialized (
      select given.*, agent.last_seen_at as before
      from given cross join lateral (
        select last_seen_at from agents
        where agents.id = given.agent_id and agents.org_id = given.org_id and status = 'active' and last_seen_at is not null
          and (agents.agent_version, agents.hostname, agents.platform, agents.remote_config)
            = (given.agent_version, given.hostname, given.platform, given.remote_config)
          and not exists (select from config_requests where ${isDue("given.agent_id", "given.seen_at")})
          and not exists (
            select from commands join sources on sources.id = commands.source_id
            where commands.agent_id = given.agent_id and commands.ended_at is null and sources.removed_at is null
              and (commands.status = 'queued' or (commands.status = 'delivered' and commands.delivered_at < given.due))
          )
          and not exists (
            select from jsonb_to_recordset(given.declared) as declared (slug text, engine text, labels jsonb)
            left join sources as known on known.org_id = given.org_id and known.slug = declared.slug and known.removed_at is null
            where case when known.id is not null
              then known.agent_id = given.agent_id and (known.engine <> declared.engine or known.labels <> declared.labels)
              else not exists (
                select from sources as removed
                where removed.org_id = given.org_id and removed.slug = declared.slug and removed.agent_id = given.agent_id
              ) end
          )
        for no key update skip locked
      ) as agent
    ), noted as (
      update agents set last_seen_at = taken.seen_at, spool = taken.spool, encryption = taken.encryption
      from taken where agents.id = taken.agent_id
      returning taken.agent_id, taken.org_id, taken.before, taken.declared
    )
    select noted.agent_id, noted.before, head.*, set_config('synchronous_commit', 'off', true) as commit,
      (select coalesce(json_agg(json_strip_nulls(json_build_object('id', id, 'slug', slug, 'agent_id', nullif(agent_id, noted.agent_id))) order by id), '[]')
        from sources where org_id = noted.org_id and removed_at is null
          and slug = any (array(select slug from jsonb_to_recordset(noted.declared) as declared (slug text)))) as sources
    from noted cross join lateral (${newestHeadOf("noted.org_id")}) as head`,
};

/** Nobody notices how long a heartbeat takes. */
const GATHER_MS = 10;
/** A heartbeat, and each source that it declares. */
const MAX_WEIGHT = 500;

/**
 * Handles the heartbeat that nearly all are: the agent acknowledges nothing, reports the same host
 * and sources as before, and has no command waiting. One statement for all that come within a few
 * milliseconds, because a hundred thousand agents send one each minute. It changes nothing and
 * returns null if there is more to do, if the agent has never been seen, or if it is revoked. It
 * runs as the service, not as the organisation (see scopeToOrg): everything it reads is selected by
 * the token's agent or organisation.
 */
export function gatherFastPath(db: Database): (given: GivenHeartbeat) => Promise<FastPath | null> {
  const gathered = new Gathered<GivenHeartbeat, FastPath | null>({
    wait_ms: GATHER_MS,
    maxWeight: MAX_WEIGHT,
    weightOf: ({ body }) => 1 + body.sources.length,
    nameOf: ({ agent }) => agent.id,
    run: async (heartbeats) => {
      const rows = await runPrepared<FastPath & { agent_id: string }>(db, NOTE, [
        JSON.stringify(heartbeats.map(toJson)),
      ]);
      const found = new Map(rows.map((row) => [row.agent_id, row]));
      return heartbeats.map(({ agent }) => found.get(agent.id) ?? null);
    },
  });
  return async (given) => (given.body.acks.length > 0 ? null : gathered.do(given));
}

function toJson({ agent, body, now, due }: GivenHeartbeat): object {
  const { agent_version, hostname, platform, sources, spool, encryption, remote_config } = body;
  return {
    agent_id: agent.id,
    org_id: agent.orgId,
    agent_version,
    hostname,
    platform,
    seen_at: now,
    due,
    spool,
    encryption,
    remote_config: remote_config === true,
    declared: sources.map((source) => ({
      slug: source.slug,
      engine: source.engine,
      labels: labelsOf(source),
    })),
  };
}
