import type { Schemas } from "@attestore/contract/client";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { save } from "../../parts/feedback/save-with-undo.ts";
import { agents as text } from "../../text/agents.ts";
import { people } from "../../text/people.ts";
import { strings } from "../../text/strings.ts";

export function RenameAgent({ agent }: { agent: Schemas["AgentRecord"] }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const [name, setName] = useState(agent.name);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    close();
    const { org_id: orgID, id, name: before } = agent;
    void save({
      id,
      within: [
        ["agents", orgID],
        ["orgs", orgID, "agents"],
        ["overview", orgID],
      ],
      before: { name: before },
      after: { name: name.trim() },
      call: (body) =>
        api.call("patch", "/api/orgs/{orgID}/agents/{agentID}", { path: { orgID, agentID: id }, body }),
      done: text.rename.done(name.trim()),
    });
  };
  return (
    <>
      <ReasonedButton
        variant="default"
        disabledReason={mayManage ? null : people.onlyManagers}
        onClick={() => {
          setName(agent.name);
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
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {strings.dialog.cancel}
              </Button>
              <Button type="submit">{text.rename.save}</Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
