import type { Schemas } from "@attestore/contract/client";
import { Button, Checkbox, Group, Stack, Switch, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FailurePanel } from "../../parts/failure-panel.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { notifications } from "../../text/notifications.ts";
import { people } from "../../text/people.ts";
import { strings } from "../../text/strings.ts";
import { useChannelCall } from "./channel-call.ts";
import { type Channel, nameOf } from "./queries.ts";
import { TypeChoice } from "./type-choice.tsx";

const text = notifications.change;

export function ChangeChannel({ channel }: { channel: Channel }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const name = nameOf(channel);
  return (
    <>
      <ReasonedButton
        size="xs"
        variant="default"
        aria-label={text.of(name)}
        disabledReason={mayManage ? null : people.onlyManagers}
        onClick={open}
      >
        {text.action}
      </ReasonedButton>
      <Dialog opened={opened} onClose={close} title={text.title(name)}>
        <ChangeForm channel={channel} onClose={close} />
      </Dialog>
    </>
  );
}

function ChangeForm({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const [name, setName] = useState(channel.name ?? "");
  const [url, setUrl] = useState(channel.url ?? "");
  const [isOn, setIsOn] = useState(channel.status === "active");
  const [weekly, setWeekly] = useState(channel.weekly_evidence);
  const [types, setTypes] = useState(channel.types);
  const change = useChannelCall(
    channel,
    (at, body: Schemas["ChangeChannelRequest"]) =>
      api.call("patch", "/api/orgs/{orgID}/notifications/channels/{channelID}", { ...at, body }),
    onClose,
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (types?.length === 0) return;
    change.mutate({
      name: name.trim() === "" ? null : name.trim(),
      status: isOn ? "active" : "disabled",
      types,
      ...(channel.kind === "webhook" ? { url: url.trim() } : { weekly_evidence: weekly }),
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Switch label={text.on} checked={isOn} onChange={(event) => setIsOn(event.currentTarget.checked)} />
        {channel.kind === "webhook" && (
          <TextInput
            type="url"
            label={text.url}
            required
            maxLength={2048}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
        )}
        <TextInput
          label={notifications.add.name}
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TypeChoice types={types} onChange={setTypes} />
        {channel.kind === "email" && (
          <Checkbox
            label={notifications.add.weekly}
            checked={weekly}
            onChange={(event) => setWeekly(event.currentTarget.checked)}
          />
        )}
        {change.isError && <FailurePanel error={change.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {strings.dialog.cancel}
          </Button>
          <Button type="submit" loading={change.isPending}>
            {text.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
