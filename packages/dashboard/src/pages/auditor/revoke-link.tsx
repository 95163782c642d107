import type { Schemas } from "@attestore/contract/client";
import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { useNow } from "../../parts/age.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { auditor } from "../../text/auditor.ts";
import { people } from "../../text/people.ts";
import { linkState } from "./link-state.ts";

const text = auditor.revoke;

export function RevokeLink({ link }: { link: Schemas["AuditorLinkRecord"] }) {
  const { id, org_id, name } = link;
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const state = linkState(link, useNow());
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/auditor-links/{id}/revoke", { path: { orgID: org_id, id } }),
    onSuccess: async () => {
      close();
      await client.invalidateQueries({ queryKey: ["auditor-links", org_id] });
    },
  });
  const over = { live: null, revoked: text.already, over: text.over }[state];
  return (
    <>
      <ReasonedButton
        size="xs"
        variant="default"
        aria-label={text.of(name)}
        disabledReason={mayManage ? over : people.onlyManagers}
        onClick={open}
      >
        {text.action}
      </ReasonedButton>
      <ConfirmDialog
        opened={opened}
        title={text.title(name)}
        action={text.of(name)}
        pending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate()}
        onClose={close}
      >
        <Stack gap="xs">
          <Text size="sm">{text.goes}</Text>
          <Text size="sm">{text.stays}</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}
