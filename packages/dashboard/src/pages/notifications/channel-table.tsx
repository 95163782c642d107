import { Group, Stack, Text } from "@mantine/core";
import { Age } from "../../parts/marks/age.tsx";
import { type Column, RecordTable } from "../../parts/records/record-table.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { notifications as text } from "../../text/notifications.ts";
import { ChangeChannel } from "./change-channel.tsx";
import { type Channel, nameOf } from "./queries.ts";
import { RemoveChannel } from "./remove-channel.tsx";
import { RenewSecret } from "./renew-secret.tsx";
import { SendTest } from "./send-test.tsx";
import type { ShownSecret } from "./shown-secret.ts";

interface ChannelTableProps {
  channels: Channel[];
  onSecret: (shown: ShownSecret) => void;
}

export function ChannelTable({ channels, onSecret }: ChannelTableProps) {
  const columns: Column<Channel>[] = [
    { header: text.column.to, cell: (channel) => <Receiver channel={channel} /> },
    {
      header: text.column.what,
      cell: ({ types, weekly_evidence }) =>
        `${text.types.count(types)}${weekly_evidence ? `, ${text.weekly}` : ""}`,
    },
    { header: text.column.state, cell: (channel) => <State channel={channel} /> },
    {
      header: text.column.last,
      cell: ({ last_delivered_at }) => <Age at={last_delivered_at} fallback={text.never} />,
    },
    {
      header: text.column.action,
      cell: (channel) => (
        <Group gap={6}>
          <SendTest channel={channel} />
          <ChangeChannel channel={channel} />
          {channel.kind === "webhook" && <RenewSecret channel={channel} onSecret={onSecret} />}
          <RemoveChannel channel={channel} />
        </Group>
      ),
    },
  ];
  return <RecordTable caption={text.title} columns={columns} rows={channels} rowKey={({ id }) => id} />;
}

function Receiver({ channel }: { channel: Channel }) {
  return (
    <Stack gap={0}>
      <span>{nameOf(channel)}</span>
      <Text span size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {text.kind[channel.kind]}
        {channel.name === null ? "" : `: ${channel.email ?? channel.url ?? ""}`}
      </Text>
    </Stack>
  );
}

function State({ channel }: { channel: Channel }) {
  const { status, disabled_reason, last_failed_at, last_delivered_at } = channel;
  if (status === "disabled") return <span>{text.state[disabled_reason ?? "by_user"]}</span>;
  const fails = last_failed_at !== null && (last_delivered_at === null || last_failed_at > last_delivered_at);
  if (!fails) return <span>{text.state.active}</span>;
  return (
    <span>
      <StatusMark status="failed" size={14} label="" /> {text.state.failedSince} <Age at={last_failed_at} />
    </span>
  );
}
