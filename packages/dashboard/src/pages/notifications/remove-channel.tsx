import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { notifications } from "../../text/notifications.ts";
import { people } from "../../text/people.ts";
import { useChannelCall } from "./channel-call.ts";
import { type Channel, nameOf } from "./queries.ts";

const text = notifications.remove;

export function RemoveChannel({ channel }: { channel: Channel }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const name = nameOf(channel);
  const remove = useChannelCall(
    channel,
    (at) => api.call("delete", "/api/orgs/{orgID}/notifications/channels/{channelID}", at),
    close,
  );
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
      <ConfirmDialog
        opened={opened}
        title={text.title(name)}
        action={text.of(name)}
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        <Stack gap="xs">
          <Text size="sm">{text.goes}</Text>
          <Text size="sm">{text.stays}</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}
