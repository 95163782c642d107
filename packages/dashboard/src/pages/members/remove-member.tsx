import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useMe, useOrgId } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { members as text } from "../../text/members.ts";
import { type Member, reasonAgainst } from "./member-rules.ts";

export function RemoveMember({ member, all }: { member: Member; all: readonly Member[] }) {
  const orgId = useOrgId();
  const me = useMe().user;
  const [opened, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const isMe = member.id === me.id;
  const who = member.name ?? member.email;
  const remove = useMutation({
    mutationFn: () =>
      api.call("delete", "/api/orgs/{orgID}/users/{userID}", { path: { orgID: orgId, userID: member.id } }),
    onSuccess: async () => {
      close();
      if (!isMe) return client.invalidateQueries({ queryKey: ["members", orgId] });
      client.clear();
      return navigate({ to: "/login" });
    },
  });
  return (
    <>
      <ReasonedButton
        size="xs"
        variant="default"
        aria-label={text.remove.of(who)}
        disabledReason={reasonAgainst(me.role, member, all)}
        onClick={open}
      >
        {text.remove.action}
      </ReasonedButton>
      <ConfirmDialog
        opened={opened}
        title={text.remove.title(who)}
        action={text.remove.of(who)}
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        <Stack gap="xs">
          <Text size="sm">{isMe ? text.remove.leave : text.remove.goes}</Text>
          <Text size="sm">{text.remove.stays}</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}
