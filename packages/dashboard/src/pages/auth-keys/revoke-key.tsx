import type { Schemas } from "@attestore/contract/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { RemovalButton } from "../../parts/actions/removal-button.tsx";
import { authKeys } from "../../text/auth-keys.ts";
import { people } from "../../text/people.ts";

const text = authKeys.revoke;

export function RevokeKey({ authKey }: { authKey: Schemas["AuthKeyRecord"] }) {
  const { id, org_id, name } = authKey;
  const mayManage = useMayManage();
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/auth-keys/{id}/revoke", { path: { orgID: org_id, id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["auth-keys", org_id] }),
  });
  return (
    <RemovalButton
      name={name ?? authKeys.unnamed}
      words={text}
      goes={text.goes}
      disabledReason={mayManage ? null : people.onlyManagers}
      removal={revoke}
    />
  );
}
