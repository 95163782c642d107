import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";
import { allPages, pageOf } from "./paged-query.ts";
import { useMe } from "./session.ts";

const myOrgsQuery = queryOptions({
  queryKey: ["orgs", "mine"],
  queryFn: () =>
    allPages(async (cursor) => (await api.call("get", "/api/orgs", { query: pageOf(cursor, 200) })).body),
});

const invitationsQuery = queryOptions({
  queryKey: ["orgs", "invitations"],
  queryFn: async () => (await api.call("get", "/api/auth/invitations")).body.items,
});

/** Whether the session is a member's own: neither an operator's, nor that of an auditor link. */
function useIsOwnMembership(): boolean {
  const { user, impersonated_by } = useMe();
  return impersonated_by === null && user.role !== "operator" && user.role !== "reader";
}

/** The organisations that the signed-in member belongs to. */
export function useMyOrgs() {
  const enabled = useIsOwnMembership();
  return useQuery({ ...myOrgsQuery, enabled });
}

/** The signed-in member's open invitations. */
export function useMyInvitations() {
  const enabled = useIsOwnMembership();
  return useQuery({ ...invitationsQuery, enabled });
}

/** Switches the organisation and reloads the page, so that no data of the previous one stays. */
export function useSwitchOrg() {
  return useMutation({
    mutationFn: (org_id: string) => api.call("post", "/api/auth/switch", { body: { org_id } }),
    onSuccess: () => window.location.assign("/"),
  });
}
