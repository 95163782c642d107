import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Channel } from "./queries.ts";

interface ChannelPath {
  path: { orgID: string; channelID: string };
}

/** A call that changes a channel, and then refetches the page's data. */
export function useChannelCall<Answer, Given = void>(
  channel: Channel,
  call: (at: ChannelPath, given: Given) => Promise<Answer>,
  onDone?: (answer: Answer) => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (given: Given) => call({ path: { orgID: channel.org_id, channelID: channel.id } }, given),
    onSuccess: async (answer) => {
      onDone?.(answer);
      await client.invalidateQueries({ queryKey: ["notifications", channel.org_id] });
    },
  });
}
