import type { Schemas } from "@attestore/contract/client";
import { Button, Checkbox, Group, Stack, Switch, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { save } from "../../parts/feedback/save-with-undo.ts";
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
    const wanted: Reversible = {
      name: name.trim() === "" ? null : name.trim(),
      status: isOn ? "active" : "disabled",
      types,
      weekly_evidence: weekly,
    };
    // Only the service knows whether an address is one that it sends to.
    if (channel.kind === "webhook" && url.trim() !== channel.url)
      change.mutate({ ...bodyOf(channel, wanted), url: url.trim() });
    else {
      onClose();
      changeAtOnce(channel, wanted);
    }
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

type Reversible = Pick<Channel, "name" | "status" | "types" | "weekly_evidence">;

/** Weekly evidence is for mail only. */
function bodyOf(
  { kind }: Channel,
  { weekly_evidence, ...fields }: Reversible,
): Schemas["ChangeChannelRequest"] {
  return kind === "email" ? { ...fields, weekly_evidence } : fields;
}

function changeAtOnce(channel: Channel, after: Reversible): void {
  const { id: channelID, org_id: orgID, name, status, types, weekly_evidence } = channel;
  void save({
    id: channelID,
    within: [["notifications", orgID, "channels"]],
    before: { name, status, types, weekly_evidence },
    after,
    call: (fields) =>
      api.call("patch", "/api/orgs/{orgID}/notifications/channels/{channelID}", {
        path: { orgID, channelID },
        body: bodyOf(channel, fields),
      }),
    done: text.done(nameOf({ ...channel, ...after })),
  });
}
