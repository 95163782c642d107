import { Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage, useMe } from "../../api/session.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { members as text } from "../../text/members.ts";
import { people } from "../../text/people.ts";
import { strings } from "../../text/strings.ts";
import { givenBy } from "./member-rules.ts";

type OrgRole = keyof typeof text.roles;

export function InviteMember({ orgId }: { orgId: string }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <ReasonedButton disabledReason={mayManage ? null : people.onlyManagers} onClick={open}>
        {text.invite.action}
      </ReasonedButton>
      <Dialog opened={opened} onClose={close} title={text.invite.title}>
        <InviteForm orgId={orgId} onDone={close} />
      </Dialog>
    </>
  );
}

function InviteForm({ orgId, onDone }: { orgId: string; onDone: () => void }) {
  const { role: by } = useMe().user;
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState<OrgRole>("auditor");
  const client = useQueryClient();
  const invite = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/users", {
        path: { orgID: orgId },
        body: { email: email.trim(), role, ...(name.trim() === "" ? {} : { name: name.trim() }) },
      }),
    onSuccess: async () => {
      onDone();
      await client.invalidateQueries({ queryKey: ["members", orgId] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={text.invite.email}
          type="email"
          required
          data-autofocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <TextInput
          label={text.invite.name}
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label={text.invite.role}
          description={`${text.roles[role]}: ${text.rolesExplained[role]}`}
          data={givenBy(by).map((value) => ({ value, label: text.roles[value] }))}
          value={role}
          onChange={({ currentTarget }) => setRole(currentTarget.value as OrgRole)}
        />
        <Text size="sm" c="dimmed">
          {text.invite.explanation}
        </Text>
        {invite.isError && <FailurePanel error={invite.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {strings.dialog.cancel}
          </Button>
          <Button type="submit" loading={invite.isPending}>
            {text.invite.send}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
