import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

/**
 * Whether sign-up is open, and where codes go. If that cannot be fetched, submitting a form reports
 * the error.
 */
export const signupQuery = queryOptions({
  queryKey: ["signup"],
  queryFn: async () => (await api.call("get", "/api/auth/signup")).body,
});

/** Whether the service prints mails on its console; false while that is not known. */
export function useHasNoMail(): boolean {
  return useQuery(signupQuery).data?.codes === "console";
}
