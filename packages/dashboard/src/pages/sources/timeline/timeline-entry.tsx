import { Anchor, Group, Text } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Age } from "../../../parts/marks/age.tsx";
import { Moment } from "../../../parts/marks/moment.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { StatusMark } from "../../../parts/marks/status-mark.tsx";
import { sourceText } from "../../../text/sources.ts";
import { describeEntry } from "./describe-entry.ts";
import type { RestoreTest } from "../queries.ts";
import classes from "./timeline.module.css";
import type { TimelineRow } from "./timeline-rows.ts";

const text = sourceText.timeline;
const route = getRouteApi("/signed-in/sources/$sourceId");

interface TimelineEntryProps {
  row: TimelineRow;
  drift: number;
  /** The restore test, if the row is its receipt. */
  test: RestoreTest | undefined;
}

/** One timeline entry, with links to its records. */
export function TimelineEntry({ row, drift, test }: TimelineEntryProps) {
  const { mark, title, details } = describeEntry(row, new Date(), test);
  const { sourceId } = route.useParams();
  return (
    <li className={classes["entry"]} data-row={row.id}>
      <span className={classes["mark"]}>
        <StatusMark status={mark} label="" />
      </span>
      <div>
        <Text fw={600} component="div">
          <RecordLink id={row.id}>{title}</RecordLink>
        </Text>
        {details.length > 0 && (
          <Text size="sm" c="dimmed">
            {details.join(" · ")}
          </Text>
        )}
        <Group gap="0 var(--mantine-spacing-md)">
          {row.receipt !== undefined && (
            <Text size="sm">
              <RecordLink id={row.receipt.id}>{text.receipt}</RecordLink>
            </Text>
          )}
          {row.command !== undefined && (
            <Text size="sm">
              <RecordLink id={row.command.id}>{text.command[row.command.kind].toLowerCase()}</RecordLink>
            </Text>
          )}
          {drift > 0 && (
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link to="/sources/$sourceId" params={{ sourceId }} search={{ tab: "drift" }} {...props} />
              )}
            >
              {text.drift(drift)}
            </Anchor>
          )}
        </Group>
      </div>
      <div className={classes["time"]}>
        <Text size="sm">
          <Age at={row.at} />
        </Text>
        <Text size="xs" c="dimmed">
          <Moment at={row.at} />
        </Text>
      </div>
    </li>
  );
}
