import type { Schemas } from "@attestore/contract/client";
import { Text } from "@mantine/core";
import { formatRun } from "./format-run.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";

const text = sourceSettingsText.schedule;
type Times = NonNullable<Schemas["SchedulePreview"]["backup"]>;

/** A schedule's next times in its own time zone, and what clock changes do to it. */
export function ScheduledTimes({
  heading,
  times,
  timeZone,
}: {
  heading: string;
  times: Times;
  timeZone: string;
}) {
  const shown = new Set(times.next.map(({ at }) => at));
  const later = times.at_clock_changes.filter(({ at }) => !shown.has(at));
  return (
    <div>
      <Text size="sm" fw={600} component="h4">
        {heading}
      </Text>
      <TimeList times={times.next} timeZone={timeZone} label={heading} />
      {later.length > 0 && (
        <>
          <Text size="sm" fw={600} component="h4">
            {text.atChanges}
          </Text>
          <TimeList times={later} timeZone={timeZone} label={text.atChanges} />
        </>
      )}
    </div>
  );
}

function TimeList({ times, timeZone, label }: { times: Times["next"]; timeZone: string; label: string }) {
  return (
    <ol aria-label={label} style={{ margin: 0, paddingInlineStart: "1.5rem" }}>
      {times.map(({ at, clock_change }) => (
        <Text key={at} component="li" size="sm">
          <time dateTime={at}>{formatRun(new Date(at), timeZone)}</time>
          {clock_change !== null && <i> – {text[clock_change]}</i>}
        </Text>
      ))}
    </ol>
  );
}
