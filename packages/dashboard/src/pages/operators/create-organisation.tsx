import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { operators } from "../../text/operators.ts";
import { strings } from "../../text/strings.ts";

const text = operators.create;

export function CreateOrganisation() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button onClick={open}>{text.action}</Button>
      <Dialog opened={opened} onClose={close} title={text.title}>
        <CreateForm onDone={close} />
      </Dialog>
    </>
  );
}

function CreateForm({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState("");
  const [owner, setOwner] = useState("");
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs", {
        body: { name: name.trim(), ...(owner.trim() === "" ? {} : { owner_email: owner.trim() }) },
      }),
    onSuccess: async () => {
      onDone();
      await client.invalidateQueries({ queryKey: ["orgs"] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={text.name}
          required
          maxLength={100}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={text.owner}
          description={text.ownerHint}
          type="email"
          value={owner}
          onChange={(event) => setOwner(event.currentTarget.value)}
        />
        {create.isError && <FailurePanel error={create.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {strings.dialog.cancel}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {text.send}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
