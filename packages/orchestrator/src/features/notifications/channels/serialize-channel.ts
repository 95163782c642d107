import type { ChannelRecord, SubscribableType } from "@attestore/contract";
import type { Channel } from "./channel-store.ts";

/** A channel as the API returns it; never with its secret. */
export function channelRecord(channel: Channel): ChannelRecord {
  const { id, org_id, kind, name, user_id, email, url, weekly_evidence } = channel;
  return {
    id,
    created_at: channel.created_at.toISOString(),
    org_id,
    kind,
    name,
    ...standingOf(channel),
    user_id,
    email,
    url,
    // The calls that write it accept no other value.
    types: channel.types as SubscribableType[] | null,
    weekly_evidence,
    last_delivered_at: channel.last_delivered_at?.toISOString() ?? null,
    last_failed_at: channel.last_failed_at?.toISOString() ?? null,
  };
}

/** A user who was removed gets nothing, whatever the channel says. */
function standingOf({
  kind,
  email,
  disabled_reason,
}: Channel): Pick<ChannelRecord, "status" | "disabled_reason"> {
  if (kind === "email" && email === null) return { status: "disabled", disabled_reason: "user_removed" };
  return { status: disabled_reason === null ? "active" : "disabled", disabled_reason };
}
