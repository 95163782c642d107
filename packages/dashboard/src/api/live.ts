import type { Query, QueryClient } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { openLiveConnection } from "./live-connection.ts";
import { concerns } from "./live-topics.ts";
import { useMe } from "./session.ts";

/**
 * Keeps every page up to date with the changes that the service announces. Single records are
 * refetched and change in place. Paged lists would move under the reader, so they stay, and
 * `useNewer` says that there is newer data.
 *
 * Off while an operator acts as a member: each call adds an entry to the organisation's log, which
 * would itself be a change.
 */
export function useLive(): void {
  const client = useQueryClient();
  const { org, user, impersonated_by } = useMe();
  const orgId = impersonated_by === null && user.role !== "reader" ? (org?.id ?? null) : null;
  useEffect(() => {
    news.set({ mayListen: orgId !== null });
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
      onConnected: (connected) => news.set({ connected }),
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
    // Queries that are not on screen are refetched when they are next shown.
    if (!list.isActive()) list.invalidate();
  }
  const held = lists.filter((list) => list.isActive()).map(({ queryHash }) => queryHash);
  if (held.length > 0) news.set({ held: new Set([...news.get().held, ...held]) });
}

function isPaged(data: unknown): boolean {
  return typeof data === "object" && data !== null && "pages" in data && "pageParams" in data;
}

interface News {
  /**
   * Whether a tab is connected to the event stream. Without one, lists are also refetched from time
   * to time.
   */
  connected: boolean;
  mayListen: boolean;
  /** Query hashes of the visible lists that are out of date. */
  held: ReadonlySet<string>;
}

const news = store<News>({ connected: false, mayListen: false, held: new Set() });

/** Whether newer data exists than the page's lists show, and how to show it. */
export function useNewer(page: string): { isNewer: boolean; show: () => void } {
  const client = useQueryClient();
  // Another page loads its own lists; these are refetched when the reader returns.
  useEffect(() => () => news.set({ held: new Set() }), [page]);
  const { held } = useSyncExternalStore(news.subscribe, news.get);
  const cache = client.getQueryCache();
  const lists = [...held].flatMap((hash) => cache.get(hash) ?? []).filter((query) => query.isActive());
  return {
    isNewer: lists.length > 0,
    show: () => {
      news.set({ held: new Set() });
      void client.invalidateQueries({ predicate: ({ queryHash }) => held.has(queryHash) });
    },
  };
}

/**
 * How often a list refetches by itself: never while `useNewer` announces changes, or where each
 * call is logged.
 */
export function listInterval(): number | false {
  const { connected, mayListen } = news.get();
  return connected || !mayListen ? false : 60_000;
}

function store<Value extends object>(first: Value) {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (more: Partial<Value>) => {
      value = { ...value, ...more };
      for (const listener of listeners) listener();
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
