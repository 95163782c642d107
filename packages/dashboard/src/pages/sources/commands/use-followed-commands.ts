import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useMe, useOrgId } from "../../../api/session.ts";
import { useNow } from "../../../parts/marks/age.tsx";
import { endOf, isUnderWay } from "../../commands/command-state.ts";
import { recentCommandsQuery, type Source } from "../queries.ts";
import { useSayFinished } from "./use-say-finished.ts";
import type { Command } from "../../commands/command-state.ts";

export interface FollowedCommands {
  /** The source's newest commands; undefined until loaded. */
  recent: readonly Command[] | undefined;
  /**
   * Commands that ran at some time since the page was opened, or that it started, and that were not
   * hidden. One that ended with a receipt is left to the timeline.
   */
  shown: readonly Command[];
  /** For a command that this page starts: it may have ended before the page hears of it again. */
  follow(id: string): void;
  hide(id: string): void;
}

const WATCHED_MS = 1500;
const UNWATCHED_MS = 30_000;

/**
 * The source's commands, refetched every two seconds while one is running so that the page shows
 * its progress.
 */
export function useFollowedCommands(source: Source): FollowedCommands {
  const orgId = useOrgId();
  const { role } = useMe().user;
  const client = useQueryClient();
  const now = useNow();
  const { data: recent } = useQuery({
    ...recentCommandsQuery(orgId, source.id),
    // An auditor link does not lead to commands.
    enabled: role !== "reader",
    refetchInterval: ({ state: { data } }) =>
      data?.some((command) => isUnderWay(command, new Date())) === true ? WATCHED_MS : UNWATCHED_MS,
  });
  const [followed, setFollowed] = useState<ReadonlySet<string>>(new Set());
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const fresh = (recent ?? [])
    .filter(({ id }) => !followed.has(id))
    .filter((command) => isUnderWay(command, now));
  if (fresh.length > 0) setFollowed(new Set([...followed, ...fresh.map(({ id }) => id)]));

  const seen = useMemo(
    () => (recent ?? []).filter(({ id }) => followed.has(id) && !hidden.has(id)),
    [recent, followed, hidden],
  );
  useSayFinished(source, seen);
  // Refetch what they changed on this page: clocks, timeline, tests.
  const progress = seen.map(({ id, outcome }) => `${id} ${JSON.stringify(outcome)}`).join();
  const anyOutcome = seen.some(
    (command) => endOf(command) !== null || command.outcome.backup_id !== undefined,
  );
  useEffect(() => {
    if (!anyOutcome) return;
    void client.invalidateQueries({ queryKey: ["orgs", orgId, "sources", source.id] });
    void client.invalidateQueries({ queryKey: ["overview", orgId] });
  }, [anyOutcome, progress, client, orgId, source.id]);
  return {
    recent,
    shown: seen.filter((command) => endOf(command) !== "receipt"),
    follow: (id) => setFollowed((before) => new Set([...before, id])),
    hide: (id) => setHidden(new Set([...hidden, id])),
  };
}
