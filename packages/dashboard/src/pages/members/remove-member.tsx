import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useMe, useOrgId } from "../../api/session.ts";
import { RemovalButton } from "../../parts/actions/removal-button.tsx";
import { members } from "../../text/members.ts";
import { type Member, reasonAgainst } from "./member-rules.ts";

const text = members.remove;

export function RemoveMember({ member, all }: { member: Member; all: readonly Member[] }) {
  const orgId = useOrgId();
  const me = useMe().user;
  const client = useQueryClient();
  const navigate = useNavigate();
  const isMe = member.id === me.id;
  const isPending = member.status === "pending";
  const remove = useMutation({
    mutationFn: () =>
      api.call("delete", "/api/orgs/{orgID}/users/{userID}", { path: { orgID: orgId, userID: member.id } }),
    onSuccess: () => {
      if (!isMe) return client.invalidateQueries({ queryKey: ["members", orgId] });
      client.clear();
      return navigate({ to: "/login" });
    },
  });
  return (
    <RemovalButton
      name={member.name ?? member.email}
      words={isPending ? members.withdraw : text}
      goes={isMe ? text.leave : isPending ? members.withdraw.goes : text.goes}
      disabledReason={reasonAgainst(me.role, member, all)}
      removal={remove}
    />
  );
}
