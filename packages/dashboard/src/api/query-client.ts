import { CallRefused } from "@attestore/contract/client";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { meQuery } from "./session.ts";

/** A refusal is an answer. Retry only if no answer came or the service is busy. */
function worthAnotherTry(failures: number, error: Error): boolean {
  if (failures >= 2) return false;
  return !(error instanceof CallRefused) || error.status === 503 || error.status === 429;
}

/**
 * How often to refetch. Never while an operator acts as a member: each call becomes an entry of the
 * organisation's log.
 */
export function every(interval_ms: number): () => number | false {
  return () => {
    const me = queryClient.getQueryData(meQuery.queryKey);
    return me === undefined || me === null || me.impersonated_by === null ? interval_ms : false;
  };
}

/**
 * Whichever call first learns that the session ended, the user is sent to sign in
 * (session-guard.tsx).
 */
function onFailure(error: Error): void {
  const isOver =
    error instanceof CallRefused && (error.code === "session_expired" || error.code === "unauthenticated");
  if (isOver) void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: onFailure }),
  mutationCache: new MutationCache({ onError: onFailure }),
  defaultOptions: {
    // A browser that counts itself offline may still reach a service on its own network or machine;
    // and where it can't, the person is told, rather than kept waiting for a network.
    queries: {
      networkMode: "always",
      retry: worthAnotherTry,
      staleTime: 10_000,
      refetchInterval: every(60_000),
    },
    mutations: { networkMode: "always", retry: false },
  },
});
