import type { EntryKind, LogEntry, PlacedEntry, Verdict } from "../../log/entry.ts";
import type { EventEntry } from "../../log/event-entry.ts";
import { insertEvents } from "../../log/event-rows.ts";
import type { SqlSession } from "../../log/sql-session.ts";
import { notFound } from "../../platform/http/errors.ts";
import { readOwners } from "./store.ts";

export type AgentEventEntry = EventEntry & LogEntry;

/** Agents' events in a batch. What they refer to has to be their organisation's. */
export const agentEvents: EntryKind<AgentEventEntry> = {
  async examine(session: SqlSession, entries: readonly AgentEventEntry[]) {
    const owners = await readOwners(session, {
      sources: entries.flatMap(({ sourceId }) => sourceId ?? []),
      backups: entries.flatMap(({ backupId }) => backupId ?? []),
      commands: entries.flatMap(({ commandId }) => commandId ?? []),
    });
    return ({ orgId, sourceId, backupId, commandId }): Verdict<AgentEventEntry> => {
      for (const [what, id] of [
        ["source", sourceId],
        ["backup", backupId],
        ["command", commandId],
      ] as const)
        if (id !== undefined && owners.get(id) !== orgId) return { is: "refused", error: notFound(what) };
      return { is: "new" };
    };
  },

  insert(session: SqlSession, placed: readonly PlacedEntry<AgentEventEntry>[]) {
    return [
      insertEvents(
        session,
        placed.map((leaf) => ({ event: leaf.entry, placed: leaf })),
      ),
    ];
  },
};
