import type { Query, QueryClient } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { openLiveConnection } from "./live-connection.ts";
import { concerns } from "./live-topics.ts";
import { useMe } from "./session.ts";

/**
 * Keeps every page up to date, by what the service says has changed. What is read as one thing is read again and changes where it
 * stands. Lists that are read page by page would move under the reader: they stay, and `useNewer` says that there is more.
 *
 * Where an operator acts as somebody nothing is kept: each call is an entry of the organisation's log, and would be news itself.
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
      // Mostly nothing: the page's own calls take longer than this connection.
      onOpened: () =>
        void client.invalidateQueries({
          predicate: ({ queryKey, state }) =>
            queryKey[0] !== "me" && state.dataUpdatedAt > 0 && state.fetchStatus === "idle",
        }),
      // Whatever happened while nobody listened.
      onGap: () => takeNews(client, () => true),
      onConnected: (connected) => news.set({ connected }),
      // A page that is loaded anew keeps nothing of what was shown, and asks who is signed in.
      onSessionEnd: () => window.location.reload(),
    });
  }, [client, orgId]);
}

function takeNews(client: QueryClient, isMeant: (query: Query) => boolean): void {
  const isList = (query: Query): boolean => isPaged(query.state.data);
  void client.invalidateQueries({ predicate: (query) => isMeant(query) && !isList(query) });
  const lists = client.getQueryCache().findAll({ predicate: (query) => isMeant(query) && isList(query) });
  for (const list of lists) {
    // Those that nobody looks at are read anew when somebody does.
    if (!list.isActive()) list.invalidate();
  }
  const held = lists.filter((list) => list.isActive()).map(({ queryHash }) => queryHash);
  if (held.length > 0) news.set({ held: new Set([...news.get().held, ...held]) });
}

function isPaged(data: unknown): boolean {
  return typeof data === "object" && data !== null && "pages" in data && "pageParams" in data;
}

interface News {
  /** Whether somebody listens to the service; while nobody can, lists too are read again from time to time. */
  connected: boolean;
  mayListen: boolean;
  /** Lists on show (their query's hash) that are not the newest. */
  held: ReadonlySet<string>;
}

const news = store<News>({ connected: false, mayListen: false, held: new Set() });

/** Whether there is something newer than what the lists on the page (its path) show, and how to show it. */
export function useNewer(page: string): { isNewer: boolean; show: () => void } {
  const client = useQueryClient();
  // Another page reads its own lists; these are read again when somebody comes back.
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

/** How often a list is read again by itself: not where `useNewer` tells of what is new, nor where each call is logged. */
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
