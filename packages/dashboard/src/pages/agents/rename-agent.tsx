import type { Schemas } from "@attestore/contract/client";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FailurePanel } from "../../parts/failure-panel.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { agents as text } from "../../text/agents.ts";
import { people } from "../../text/people.ts";
import { strings } from "../../text/strings.ts";

export function RenameAgent({ agent }: { agent: Schemas["AgentRecord"] }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const [name, setName] = useState(agent.name);
  const client = useQueryClient();
  const rename = useMutation({
    mutationFn: () =>
      api.call("patch", "/api/orgs/{orgID}/agents/{agentID}", {
        path: { orgID: agent.org_id, agentID: agent.id },
        body: { name: name.trim() },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["agents", agent.org_id] });
      close();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    rename.mutate();
  };
  return (
    <>
      <ReasonedButton
        variant="default"
        disabledReason={mayManage ? null : people.onlyManagers}
        onClick={() => {
          setName(agent.name);
          rename.reset();
          open();
        }}
      >
        {text.rename.action}
      </ReasonedButton>
      <Dialog opened={opened} onClose={close} title={text.rename.action}>
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              label={text.rename.label}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              required
              maxLength={100}
              data-autofocus
            />
            {rename.isError && <FailurePanel error={rename.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {strings.dialog.cancel}
              </Button>
              <Button type="submit" loading={rename.isPending}>
                {text.rename.save}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
