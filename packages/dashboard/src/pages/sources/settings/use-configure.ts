import type { Schemas } from "@attestore/contract/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { useOrgId } from "../../../api/session.ts";
import { save } from "../../../parts/feedback/save-with-undo.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import type { SourceDetail } from "../queries.ts";

function configure(orgID: string, sourceID: string, body: Schemas["ConfigureSourceRequest"]) {
  return api.call("post", "/api/orgs/{orgID}/sources/{sourceID}/configure", {
    path: { orgID, sourceID },
    body,
  });
}

/** Changes what cannot be taken back: backups go by it. */
export function useConfigure(sourceID: string, onSaved: () => void) {
  const orgID = useOrgId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["ConfigureSourceRequest"]) => configure(orgID, sourceID, body),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["orgs", orgID, "sources"] });
      void client.invalidateQueries({ queryKey: ["overview", orgID] });
      onSaved();
    },
  });
}

type Changeable = "name" | "agent_id" | "test_agent_id" | "schedule" | "objectives";
type Change = Partial<Pick<SourceDetail, Changeable>>;

/** Changes what can be taken back. `what` is the setting's name. */
export function useChange(source: SourceDetail, what: string): (change: Change) => void {
  const orgID = useOrgId();
  return (after) => {
    const fields = Object.keys(after) as Changeable[];
    void save<Change>({
      id: source.id,
      within: [
        ["orgs", orgID, "sources"],
        ["overview", orgID],
      ],
      before: Object.fromEntries(fields.map((field) => [field, source[field]])),
      after,
      call: (body) => configure(orgID, source.id, body),
      done: sourceSettingsText.settings.done(source.name, what),
    });
  };
}
