import type { Rollback } from "@attestore/proof";
import { Alert, Code, Stack, Text } from "@mantine/core";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { plural } from "../../text/format.ts";
import { logText } from "../../text/log.ts";
import { visible } from "../../text/visible.ts";
import type { LogWatch } from "./watch-log.ts";

const text = logText.loss;

/** The log takes nothing until its operator has acted. */
export function ReadOnlyBanner() {
  return (
    <Alert role="alert" color="red" variant="light" title={logText.readOnly.title} data-log="read-only">
      <Text size="sm">{logText.readOnly.what}</Text>
      <Text size="sm" mt="xs">
        {logText.readOnly.next}
      </Text>
    </Alert>
  );
}

/**
 * What the log lost, when it went on, and what came again. Shown for as long as the log is there;
 * this browser has verified all of it, except how much came again.
 */
export function LossBanner({ watch: { rollbacks, keys, held } }: { watch: LogWatch }) {
  const newest = rollbacks.at(-1);
  if (newest === undefined) return null;
  return (
    <Stack gap="sm" data-log="lost-entries">
      <Alert role="status" color="yellow" variant="light" title={text.title}>
        <Text size="sm">{text.lead(newest.generation)}</Text>
      </Alert>
      {rollbacks.toReversed().map((rollback) => (
        <Section key={rollback.generation} title={text.generation(rollback.generation)}>
          <LossFacts
            rollback={rollback}
            again={keys.handed_in_again.find(({ generation }) => generation === rollback.generation)}
            alarmedAt={rollback === newest ? held?.generations?.alarm?.raised_at : undefined}
          />
        </Section>
      ))}
    </Stack>
  );
}

function LossFacts({
  rollback: { at, size, lost, by, because, eventId, origin },
  again,
  alarmedAt,
}: {
  rollback: Rollback;
  again: LogWatch["keys"]["handed_in_again"][number] | undefined;
  alarmedAt: string | undefined;
}) {
  const largest = lost.at(-1)?.size;
  const entries = (count: number): string => plural(count, "entry", "entries");
  return (
    <FactList
      facts={[
        [text.lost, largest === undefined ? text.lostUnknown : text.lostValue(entries(largest - size))],
        [text.left, text.leftValue(entries(size))],
        [text.at, <Moment at={at} />],
        [
          text.again,
          again === undefined || again.receipts + again.events === 0
            ? text.againNone
            : text.againValue(plural(again.receipts, "receipt"), plural(again.events, "event")),
        ],
        [text.by, visible(by, 100)],
        [text.because, visible(because, 200)],
        [
          text.event,
          <>
            <RecordLink id={eventId}>{eventId}</RecordLink>
            {" · "}
            <Code>{visible(origin)}</Code>
          </>,
        ],
        ...(alarmedAt === undefined
          ? []
          : ([
              [
                text.alarm,
                <>
                  {text.alarmValue} <Moment at={alarmedAt} />
                </>,
              ],
            ] as const)),
      ]}
    />
  );
}
