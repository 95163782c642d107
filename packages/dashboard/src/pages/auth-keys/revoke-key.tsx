import type { Schemas } from "@attestore/contract/client";
import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { authKeys as text } from "../../text/auth-keys.ts";
import { people } from "../../text/people.ts";

export function RevokeKey({ authKey }: { authKey: Schemas["AuthKeyRecord"] }) {
  const { id, org_id } = authKey;
  const name = authKey.name ?? text.unnamed;
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/auth-keys/{id}/revoke", { path: { orgID: org_id, id } }),
    onSuccess: async () => {
      close();
      await client.invalidateQueries({ queryKey: ["auth-keys", org_id] });
    },
  });
  return (
    <>
      <ReasonedButton
        size="xs"
        variant="default"
        aria-label={text.revoke.of(name)}
        disabledReason={mayManage ? null : people.onlyManagers}
        onClick={open}
      >
        {text.revoke.action}
      </ReasonedButton>
      <ConfirmDialog
        opened={opened}
        title={text.revoke.title(name)}
        action={text.revoke.of(name)}
        pending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate()}
        onClose={close}
      >
        <Stack gap="xs">
          <Text size="sm">{text.revoke.goes}</Text>
          <Text size="sm">{text.revoke.stays}</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}
