import { SegmentedControl, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Age } from "../../parts/marks/age.tsx";
import { RecordList } from "../../parts/records/record-list.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { type Status, StatusMark } from "../../parts/marks/status-mark.tsx";
import { notifications, TYPE_WORDS } from "../../text/notifications.ts";
import { DeliveryDetails } from "./delivery-details.tsx";
import { type Channel, deliveriesQuery, type Delivery, type DeliveryFilter, nameOf } from "./queries.ts";

const text = notifications.deliveries;
const FILTERS = ["all", "pending", "delivered", "failed"] as const;

const MARKS: Record<Delivery["status"], Status> = {
  pending: "none",
  delivered: "proven",
  failed: "failed",
  cancelled: "none",
};

/** The status of each message to each channel. */
export function DeliveryLog({ orgId, channels }: { orgId: string; channels: readonly Channel[] }) {
  const [filter, setFilter] = useState<DeliveryFilter>("all");
  const list = useInfiniteQuery(deliveriesQuery(orgId, filter));
  const names = new Map(channels.map((channel) => [channel.id, nameOf(channel)]));
  const columns: Column<Delivery>[] = [
    {
      header: text.column.what,
      cell: ({ type, subject }) => (
        <span>
          {TYPE_WORDS[type]}
          {subject !== null && (
            <>
              {": "}
              <RecordLink id={subject.id} inText>
                {subject.name}
              </RecordLink>
            </>
          )}
        </span>
      ),
    },
    { header: text.column.to, cell: ({ channel_id }) => names.get(channel_id) ?? text.removed },
    { header: text.column.when, cell: ({ created_at }) => <Age at={created_at} /> },
    {
      header: text.column.status,
      cell: ({ status, next_attempt_at }) => (
        <span>
          <StatusMark status={MARKS[status]} size={14} label="" /> {text.status[status]}
          {next_attempt_at !== null && (
            <>
              , {text.next} <Age at={next_attempt_at} />
            </>
          )}
        </span>
      ),
    },
    { header: text.column.attempts, cell: ({ attempts }) => attempts, numeric: true },
    { header: text.column.action, cell: (delivery) => <DeliveryDetails delivery={delivery} /> },
  ];
  return (
    <Section title={text.title}>
      <SegmentedControl
        aria-label={text.show}
        w="fit-content"
        maw="100%"
        style={{ flexWrap: "wrap" }}
        value={filter}
        onChange={(value) => setFilter(value as DeliveryFilter)}
        data={FILTERS.map((value) => ({ value, label: text.filters[value] }))}
      />
      <RecordList
        list={list}
        caption={text.title}
        columns={columns}
        empty={<Text size="sm">{text.empty}</Text>}
      />
    </Section>
  );
}
