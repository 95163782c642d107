import type { Schemas } from "@attestore/contract/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { useOrgId } from "../../../api/session.ts";

/** Changes a source's configuration. */
export function useConfigure(sourceID: string, onSaved: () => void) {
  const orgID = useOrgId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["ConfigureSourceRequest"]) =>
      api.call("post", "/api/orgs/{orgID}/sources/{sourceID}/configure", { path: { orgID, sourceID }, body }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["orgs", orgID, "sources"] });
      void client.invalidateQueries({ queryKey: ["overview", orgID] });
      onSaved();
    },
  });
}
