import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { scopeToOrg } from "../../platform/database/org-scope.ts";

/** The topics of a page; each changes by itself. */
export const TOPICS = [
  "log",
  "backups",
  "commands",
  "incidents",
  "sources",
  "agents",
  "auth_keys",
  "people",
  "notifications",
] as const;
export type Topic = (typeof TOPICS)[number];

/** For each topic a text that differs after anything in it has changed. */
export type Markers = Readonly<Record<Topic, string>>;

/**
 * The markers of organisations, each read as that organisation, in one statement of index lookups
 * and sums over small tables. Readers ask once a second, and only while somebody watches. Writers
 * pay nothing, whereas with NOTIFY all commits of the database would wait for one lock. When an
 * agent was last seen does not count as a change, because that is every minute.
 */
export async function readMarkers(db: Database, orgIds: readonly string[]): Promise<Map<string, Markers>> {
  return db
    .transaction()
    .setAccessMode("read only")
    .execute(async (tx) => {
      const found = new Map<string, Markers>();
      for (const orgId of orgIds) {
        await scopeToOrg(tx, orgId);
        const markers = await markersIn(tx, orgId);
        if (markers !== null) found.set(orgId, markers);
      }
      return found;
    });
}

async function markersIn(tx: DatabaseTransaction, orgId: string): Promise<Markers | null> {
  const { rows } = await sql<Record<Topic, string>>`
    select
      (select tree_size from logs where logs.org_id = orgs.id)::text as log,
      (select max(id) from backups where backups.org_id = orgs.id) as backups,
      (select concat(max(id), ' ', count(*) filter (where status = 'queued' and ended_at is null), ' ',
          count(*) filter (where status = 'delivered' and ended_at is null))
        from commands where commands.org_id = orgs.id and (status in ('queued', 'delivered')
          or id = (select max(id) from commands as newest where newest.org_id = orgs.id))) as commands,
      (select concat(max(id), ' ', count(*)) from incidents
        where incidents.org_id = orgs.id and ended_at is null) as incidents,
      (select sum(hashtextextended(sources::text, 0)) from sources where sources.org_id = orgs.id) as sources,
      (select sum(hashtextextended((name, status, agent_version, hostname, spool, last_seen_at is null)::text, 0))
        from agents where agents.org_id = orgs.id) as agents,
      (select sum(hashtextextended(auth_keys::text, 0)) from auth_keys where auth_keys.org_id = orgs.id) as auth_keys,
      concat(orgs::text,
        (select sum(hashtextextended(users::text, 0)) from users where users.org_id = orgs.id),
        (select sum(hashtextextended(auditor_links::text, 0)) from auditor_links where auditor_links.org_id = orgs.id)
      ) as people,
      concat((select sum(hashtextextended(notification_channels::text, 0)) from notification_channels
          where notification_channels.org_id = orgs.id),
        (select max(id) from notification_deliveries where notification_deliveries.org_id = orgs.id)) as notifications
    from orgs where orgs.id = ${orgId}`.execute(tx);
  const [row] = rows;
  return row === undefined ? null : digested(row);
}

function digested(values: Readonly<Record<Topic, string | null>>): Markers {
  const entries = TOPICS.map((topic) => {
    const value = values[topic] ?? "";
    return [topic, createHash("sha256").update(value).digest("hex").slice(0, 10)] as const;
  });
  return Object.fromEntries(entries) as Record<Topic, string>;
}

/** The topics whose markers differ; none if nothing was known before. */
export function changedTopics(before: Partial<Markers> | null, after: Markers): Topic[] {
  if (before === null) return [];
  return TOPICS.filter((topic) => before[topic] !== after[topic]);
}

/**
 * Markers as the id of an event: with it any replica can tell a returning client which topics it
 * missed.
 */
export function eventId(markers: Markers): string {
  return TOPICS.map((topic) => markers[topic]).join(".");
}

/** Null if it is not such an id: that client learns about changes from now on. */
export function markersOf(id: string | undefined): Markers | null {
  const parts = (id ?? "").split(".");
  if (parts.length !== TOPICS.length || !parts.every((part) => /^[0-9a-f]{10}$/.test(part))) return null;
  return Object.fromEntries(TOPICS.map((topic, n) => [topic, parts[n] ?? ""])) as Record<Topic, string>;
}
