import type { Schemas } from "@attestore/contract/client";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { passkeys } from "../../text/passkeys.ts";
import { strings } from "../../text/strings.ts";

const text = passkeys.rename;

interface RenamePasskeyProps {
  passkey: Schemas["PasskeyRecord"];
  onChanged: () => Promise<void>;
}

export function RenamePasskey({ passkey, onChanged }: RenamePasskeyProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const [name, setName] = useState(passkey.name);
  const rename = useMutation({
    mutationFn: () =>
      api.call("patch", "/api/auth/passkeys/{passkeyID}", {
        path: { passkeyID: passkey.id },
        body: { name: name.trim() },
      }),
    onSuccess: async () => {
      await onChanged();
      close();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    rename.mutate();
  };
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={text.of(passkey.name)}
        onClick={() => {
          setName(passkey.name);
          rename.reset();
          open();
        }}
      >
        {text.action}
      </Button>
      <Dialog opened={opened} onClose={close} title={text.of(passkey.name)}>
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              label={text.label}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              required
              maxLength={60}
              data-autofocus
            />
            {rename.isError && <FailurePanel error={rename.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {strings.dialog.cancel}
              </Button>
              <Button type="submit" loading={rename.isPending}>
                {text.save}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
