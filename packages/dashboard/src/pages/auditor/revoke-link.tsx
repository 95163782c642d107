import type { Schemas } from "@attestore/contract/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { useNow } from "../../parts/marks/age.tsx";
import { RemovalButton } from "../../parts/actions/removal-button.tsx";
import { auditor } from "../../text/auditor.ts";
import { people } from "../../text/people.ts";
import { linkState } from "./link-state.ts";

const text = auditor.revoke;

export function RevokeLink({ link }: { link: Schemas["AuditorLinkRecord"] }) {
  const { id, org_id, name } = link;
  const mayManage = useMayManage();
  const state = linkState(link, useNow());
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/auditor-links/{id}/revoke", { path: { orgID: org_id, id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["auditor-links", org_id] }),
  });
  const over = { live: null, revoked: text.already, over: text.over }[state];
  return (
    <RemovalButton
      name={name}
      words={text}
      goes={text.goes}
      disabledReason={mayManage ? over : people.onlyManagers}
      removal={revoke}
    />
  );
}
