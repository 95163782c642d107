import type { Query, QueryClient } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { openLiveConnection } from "./live-connection.ts";
import { concerns } from "./live-topics.ts";
import { useMe } from "./session.ts";

/**
 * Keeps every page up to date with the changes that the service announces. Records and lists are
 * refetched and change in place; parts/records/steady-rows.tsx keeps the rows that somebody reads
 * where they are.
 *
 * Off while an operator acts as a member: each call adds an entry to the organisation's log, which
 * would itself be a change.
 */
export function useLive(): void {
  const client = useQueryClient();
  const { org, user, impersonated_by } = useMe();
  const orgId = impersonated_by === null && user.role !== "reader" ? (org?.id ?? null) : null;
  useEffect(() => {
    connection.mayListen = orgId !== null;
    if (orgId === null) return;
    return openLiveConnection(orgId, {
      onChange: (topics) => takeNews(client, (query) => concerns(query.queryKey, topics)),
      // Usually nothing is stale: the page's own calls take longer than opening this connection.
      onOpened: () =>
        void client.invalidateQueries({
          predicate: ({ queryKey, state }) =>
            queryKey[0] !== "me" && state.dataUpdatedAt > 0 && state.fetchStatus === "idle",
        }),
      // Changes may have been missed while not connected.
      onGap: () => takeNews(client, () => true),
      onConnected: (connected) => {
        connection.connected = connected;
      },
      // A reload clears everything shown, and checks who is signed in.
      onSessionEnd: () => window.location.reload(),
    });
  }, [client, orgId]);
}

function takeNews(client: QueryClient, isMeant: (query: Query) => boolean): void {
  const isList = (query: Query): boolean => isPaged(query.state.data);
  void client.invalidateQueries({ predicate: (query) => isMeant(query) && !isList(query) });
  const lists = client.getQueryCache().findAll({ predicate: (query) => isMeant(query) && isList(query) });
  for (const list of lists) {
    // Lists that are not on screen are refetched when they are next shown.
    if (list.isActive()) refetchList(client, list);
    else list.invalidate();
  }
}

/** Lists that are being refetched, and whether another change came meanwhile. */
const refetching = new Map<string, boolean>();

/**
 * One refetch of a list at a time: it may have many pages, and changes may come faster than they
 * are read.
 */
function refetchList(client: QueryClient, list: Query): void {
  const { queryHash } = list;
  if (refetching.has(queryHash)) {
    refetching.set(queryHash, true);
    return;
  }
  refetching.set(queryHash, false);
  void client
    .refetchQueries({ predicate: (query) => query.queryHash === queryHash && query.isActive() })
    .finally(() => {
      const again = refetching.get(queryHash) === true;
      refetching.delete(queryHash);
      if (again) refetchList(client, list);
    });
}

function isPaged(data: unknown): boolean {
  return typeof data === "object" && data !== null && "pages" in data && "pageParams" in data;
}

interface Connection {
  /**
   * Whether a tab is connected to the event stream. Without one, lists are also refetched from time
   * to time.
   */
  connected: boolean;
  mayListen: boolean;
}

const connection: Connection = { connected: false, mayListen: false };

/**
 * How often a list refetches by itself: never while the service announces changes, or where
 * each call is logged.
 */
export function listInterval(): number | false {
  const { connected, mayListen } = connection;
  return connected || !mayListen ? false : 60_000;
}
