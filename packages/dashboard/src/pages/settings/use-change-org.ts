import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/session.ts";

export function useChangeOrg(orgID: string, onDone?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { public_log: boolean }) =>
      api.call("patch", "/api/orgs/{orgID}", { path: { orgID }, body }),
    onSuccess: async () => {
      onDone?.();
      await client.invalidateQueries(meQuery);
    },
  });
}
