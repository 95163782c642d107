import { CallRefused } from "@attestore/contract/client";
import { QueryClient } from "@tanstack/react-query";

/** Refusals are answers: only what did not arrive, or a service that is busy, is worth another try. */
function worthAnotherTry(failures: number, error: Error): boolean {
  if (failures >= 2) return false;
  return !(error instanceof CallRefused) || error.status === 503 || error.status === 429;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: worthAnotherTry, staleTime: 10_000, refetchInterval: 60_000 },
    mutations: { retry: false },
  },
});
