import type { EntryKind, LogEntry, PlacedEntry, Verdict } from "../../log/sequencer/entry.ts";
import type { EventEntry } from "../../log/events/event-entry.ts";
import { insertEvents } from "../../log/events/event-rows.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { linkCommands, readOwners, readRecordedEvents } from "./store.ts";

export type AgentEventEntry = EventEntry & LogEntry;

/**
 * A batch of agents' events. The records that they refer to must belong to their organisation, and
 * a command to the agent itself. If the log already has a signed event, its envelope shows it, as
 * for receipts. Its place in the agent's chain is not enforced, as for receipts.
 */
export const agentEvents: EntryKind<AgentEventEntry> = {
  async lookup(session: SqlSession, entries: readonly AgentEventEntry[]) {
    const signed = entries.flatMap((entry) => entry.signed ?? []);
    const [owners, recorded] = await Promise.all([
      readOwners(session, {
        sources: entries.flatMap(({ sourceId }) => sourceId ?? []),
        backups: entries.flatMap(({ backupId }) => backupId ?? []),
        commands: entries.flatMap(({ commandId }) => commandId ?? []),
      }),
      signed.length === 0
        ? new Map<string, number>()
        : readRecordedEvents(
            session,
            signed.map(({ envelopeSha256 }) => envelopeSha256),
          ),
    ]);
    const inThisBatch = new Map<string, AgentEventEntry>();
    return (entry): Verdict<AgentEventEntry> => {
      const { orgId, agentId, sourceId, backupId, commandId } = entry;
      const envelope = entry.signed?.envelopeSha256.toString("base64");
      const logIndex = envelope === undefined ? undefined : recorded.get(envelope);
      if (logIndex !== undefined) return { is: "recorded", logIndex };
      const duplicate = envelope === undefined ? undefined : inThisBatch.get(envelope);
      if (duplicate !== undefined) return { is: "duplicate", of: duplicate };
      for (const [what, id, owner] of [
        ["source", sourceId, orgId],
        ["backup", backupId, orgId],
        ["command", commandId, agentId],
      ] as const)
        if (id !== undefined && owners.get(id) !== owner) return { is: "refused", error: notFound(what) };
      if (envelope !== undefined) inThisBatch.set(envelope, entry);
      return { is: "new" };
    };
  },

  insert(session: SqlSession, placed: readonly PlacedEntry<AgentEventEntry>[]) {
    const links = new Map(
      placed.flatMap(({ entry }) => (entry.commandId ? [[entry.commandId, entry.id]] : [])),
    );
    return [
      insertEvents(
        session,
        placed.map((leaf) => ({ event: leaf.entry, placed: leaf })),
      ),
      ...(links.size === 0 ? [] : [linkCommands(session, links)]),
    ];
  },
};
