import { Text } from "@mantine/core";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { messageOf } from "../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { notifications } from "../../text/notifications.ts";
import { people } from "../../text/people.ts";
import { useChannelCall } from "./channel-call.ts";
import { type Channel, nameOf } from "./queries.ts";

const text = notifications.test;

export function SendTest({ channel }: { channel: Channel }) {
  const mayManage = useMayManage();
  const send = useChannelCall(channel, (at) =>
    api.call("post", "/api/orgs/{orgID}/notifications/channels/{channelID}/test", at),
  );
  return (
    <>
      <ReasonedButton
        size="xs"
        variant="default"
        aria-label={text.of(nameOf(channel))}
        loading={send.isPending}
        disabledReason={mayManage ? null : people.onlyManagers}
        onClick={() => send.mutate()}
      >
        {text.action}
      </ReasonedButton>
      {send.isSuccess && (
        <Text span size="sm" role="status">
          {text.sent}
        </Text>
      )}
      {send.isError && (
        <Text span size="sm" role="alert">
          {messageOf(send.error)}
        </Text>
      )}
    </>
  );
}
