import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { RemovalButton } from "../../parts/actions/removal-button.tsx";
import { notifications } from "../../text/notifications.ts";
import { people } from "../../text/people.ts";
import { useChannelCall } from "./channel-call.ts";
import { type Channel, nameOf } from "./queries.ts";

const text = notifications.remove;

export function RemoveChannel({ channel }: { channel: Channel }) {
  const mayManage = useMayManage();
  const remove = useChannelCall(channel, (at) =>
    api.call("delete", "/api/orgs/{orgID}/notifications/channels/{channelID}", at),
  );
  return (
    <RemovalButton
      name={nameOf(channel)}
      words={text}
      goes={text.goes}
      disabledReason={mayManage ? null : people.onlyManagers}
      removal={remove}
    />
  );
}
