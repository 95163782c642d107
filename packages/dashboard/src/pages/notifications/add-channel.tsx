import type { Schemas } from "@attestore/contract/client";
import { Button, Checkbox, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { notifications } from "../../text/notifications.ts";
import { people } from "../../text/people.ts";
import { strings } from "../../text/strings.ts";
import { membersQuery } from "../members/queries.ts";
import { TypeChoice } from "./type-choice.tsx";

const text = notifications.add;
const CHANNELS = "/api/orgs/{orgID}/notifications/channels";
type Types = Schemas["SubscribableType"][] | null;

interface AddChannelProps {
  kind: "email" | "webhook";
  orgId: string;
  onAdded: (channel: Schemas["ChannelWithSecret"]) => void;
}

export function AddChannel({ kind, orgId, onAdded }: AddChannelProps) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <ReasonedButton disabledReason={mayManage ? null : people.onlyManagers} onClick={open}>
        {text[kind]}
      </ReasonedButton>
      <Dialog opened={opened} onClose={close} title={kind === "email" ? text.emailTitle : text.webhookTitle}>
        <AddForm
          kind={kind}
          orgId={orgId}
          onClose={close}
          onAdded={(channel) => {
            close();
            onAdded(channel);
          }}
        />
      </Dialog>
    </>
  );
}

function AddForm({ kind, orgId, onClose, onAdded }: AddChannelProps & { onClose: () => void }) {
  const [to, setTo] = useState("");
  const [name, setName] = useState("");
  const [weekly, setWeekly] = useState(false);
  const [types, setTypes] = useState<Types>(null);
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: async () => {
      const common = { types, ...(name.trim() === "" ? {} : { name: name.trim() }) };
      const path = { orgID: orgId };
      const answer =
        kind === "email"
          ? await api.call("post", CHANNELS, {
              path,
              body: { kind, email: to, weekly_evidence: weekly, ...common },
            })
          : await api.call("post", CHANNELS, { path, body: { kind, url: to.trim(), ...common } });
      return answer.body;
    },
    onSuccess: async (channel) => {
      onAdded(channel);
      await client.invalidateQueries({ queryKey: ["notifications", orgId] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (types === null || types.length > 0) add.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {kind === "email" ? (
          <ChooseMember orgId={orgId} value={to} onChange={setTo} />
        ) : (
          <TextInput
            type="url"
            label={text.url}
            description={text.urlHint}
            placeholder="https://hooks.example.org/attestore"
            required
            maxLength={2048}
            data-autofocus
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
        )}
        <TextInput
          label={text.name}
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TypeChoice types={types} onChange={setTypes} />
        {kind === "email" && (
          <Checkbox
            label={text.weekly}
            checked={weekly}
            onChange={(event) => setWeekly(event.currentTarget.checked)}
          />
        )}
        {add.isError && <FailurePanel error={add.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {strings.dialog.cancel}
          </Button>
          <Button type="submit" loading={add.isPending}>
            {text.send}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function ChooseMember({
  orgId,
  value,
  onChange,
}: {
  orgId: string;
  value: string;
  onChange: (email: string) => void;
}) {
  const { data = [] } = useQuery(membersQuery(orgId));
  return (
    <NativeSelect
      label={text.recipient}
      description={text.recipientHint}
      required
      data-autofocus
      data={[
        { value: "", label: text.choose },
        ...data.map(({ email, name }) => ({
          value: email,
          label: name === undefined ? email : `${name}, ${email}`,
        })),
      ]}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
