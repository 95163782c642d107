import { CallRefused } from "@attestore/contract/client";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { meQuery } from "./session.ts";

/** Refusals are answers: only what did not arrive, or a service that is busy, is worth another try. */
function worthAnotherTry(failures: number, error: Error): boolean {
  if (failures >= 2) return false;
  return !(error instanceof CallRefused) || error.status === 503 || error.status === 429;
}

/** How often something is read again. Not at all where an operator acts as somebody: the organisation's log has an entry of each call. */
export function every(interval_ms: number): () => number | false {
  return () => {
    const me = queryClient.getQueryData(meQuery.queryKey);
    return me === undefined || me === null || me.impersonated_by === null ? interval_ms : false;
  };
}

/** Whoever is signed in no more is led to where they sign in (session-guard.tsx), whichever call heard of it first. */
function onFailure(error: Error): void {
  const isOver =
    error instanceof CallRefused && (error.code === "session_expired" || error.code === "unauthenticated");
  if (isOver) void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: onFailure }),
  mutationCache: new MutationCache({ onError: onFailure }),
  defaultOptions: {
    queries: { retry: worthAnotherTry, staleTime: 10_000, refetchInterval: every(60_000) },
    mutations: { retry: false },
  },
});
