import { CallRefused } from "@attestore/contract/client";
import { QueryClient } from "@tanstack/react-query";
import { meQuery } from "../api/session.ts";

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

export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: worthAnotherTry, staleTime: 10_000, refetchInterval: every(60_000) },
    mutations: { retry: false },
  },
});
