import { useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";
import { every } from "./query-client.ts";
import { useOrgId } from "./session.ts";

const EVERY_MS = 3000;

/** The organisation's agents, read again often: one of them is about to allow something. */
export function useHosts() {
  const orgID = useOrgId();
  return useQuery({
    queryKey: ["orgs", orgID, "agents", "hosts"],
    queryFn: async () =>
      (
        await api.call("get", "/api/orgs/{orgID}/agents", {
          path: { orgID },
          query: { status: "active", limit: "200" },
        })
      ).body.items,
    refetchInterval: every(EVERY_MS),
  });
}
