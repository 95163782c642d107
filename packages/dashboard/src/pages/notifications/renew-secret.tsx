import { Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { notifications } from "../../text/notifications.ts";
import { people } from "../../text/people.ts";
import { useChannelCall } from "./channel-call.ts";
import { type Channel, nameOf } from "./queries.ts";
import type { ShownSecret } from "./shown-secret.ts";

const text = notifications.renew;

interface RenewSecretProps {
  channel: Channel;
  onSecret: (shown: ShownSecret) => void;
}

export function RenewSecret({ channel, onSecret }: RenewSecretProps) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const name = nameOf(channel);
  const renew = useChannelCall(
    channel,
    (at) => api.call("post", "/api/orgs/{orgID}/notifications/channels/{channelID}/rotate-secret", at),
    ({ body: { secret } }) => {
      close();
      if (secret !== null) onSecret({ title: notifications.secret.renewed, secret });
    },
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
        action={text.confirm}
        destructive={false}
        pending={renew.isPending}
        error={renew.error}
        onConfirm={() => renew.mutate()}
        onClose={close}
      >
        <Text size="sm">{text.text}</Text>
      </ConfirmDialog>
    </>
  );
}
