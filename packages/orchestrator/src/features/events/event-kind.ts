import type { EntryKind, LogEntry, PlacedEntry, Verdict } from "../../log/entry.ts";
import type { EventEntry } from "../../log/event-entry.ts";
import { insertEvents } from "../../log/event-rows.ts";
import type { SqlSession } from "../../log/sql-session.ts";
import { notFound } from "../../platform/http/errors.ts";
import { linkCommands, readOwners } from "./store.ts";

export type AgentEventEntry = EventEntry & LogEntry;

/** Agents' events in a batch. What they refer to has to be their organisation's, and a command their own. */
export const agentEvents: EntryKind<AgentEventEntry> = {
  async examine(session: SqlSession, entries: readonly AgentEventEntry[]) {
    const owners = await readOwners(session, {
      sources: entries.flatMap(({ sourceId }) => sourceId ?? []),
      backups: entries.flatMap(({ backupId }) => backupId ?? []),
      commands: entries.flatMap(({ commandId }) => commandId ?? []),
    });
    return ({ orgId, agentId, sourceId, backupId, commandId }): Verdict<AgentEventEntry> => {
      for (const [what, id, owner] of [
        ["source", sourceId, orgId],
        ["backup", backupId, orgId],
        ["command", commandId, agentId],
      ] as const)
        if (id !== undefined && owners.get(id) !== owner) return { is: "refused", error: notFound(what) };
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
