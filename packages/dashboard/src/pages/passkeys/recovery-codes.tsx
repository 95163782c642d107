import { Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { passkeys } from "../../text/passkeys.ts";
import { ChangeFailure } from "./change-failure.tsx";

const text = passkeys.codes;

interface RecoveryCodesProps {
  left: number;
  onMade: (codes: readonly string[]) => Promise<void>;
}

export function RecoveryCodes({ left, onMade }: RecoveryCodesProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const renew = useMutation({
    mutationFn: () => api.call("post", "/api/auth/recovery-codes"),
    onSuccess: async ({ body }) => {
      await onMade(body.recovery_codes);
    },
    onSettled: close,
  });
  return (
    <Section title={text.title}>
      <Text size="sm">
        {text.explanation} {text.left(left)}
      </Text>
      <Group>
        <Button variant="default" onClick={open}>
          {text.renew}
        </Button>
      </Group>
      {renew.isError && <ChangeFailure error={renew.error} />}
      <ConfirmDialog
        opened={opened}
        title={text.renewTitle}
        action={text.renew}
        pending={renew.isPending}
        error={null}
        onConfirm={() => renew.mutate()}
        onClose={close}
      >
        <Text size="sm">{text.renewText}</Text>
      </ConfirmDialog>
    </Section>
  );
}
