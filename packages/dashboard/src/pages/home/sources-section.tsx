import { Button, Group, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useDeferredValue, useState } from "react";
import { useMe } from "../../api/session.ts";
import { Section } from "../../parts/layout/section.tsx";
import { DAY_LETTERS, dayWord, home, type Source } from "../../text/home.ts";
import { LabelFilters } from "../sources/label-filters.tsx";
import { hasLabels, type LabelFilter } from "../sources/labels.ts";
import { DayShape } from "./day-strip.tsx";
import type { DaysShown } from "../../api/overview.ts";
import { SourceRow } from "./source-row.tsx";
import classes from "./source-table.module.css";
import { type State, StateChips } from "./state-chips.tsx";
import { useGrowingRoom } from "./use-growing-room.ts";
import { useKeptOrder } from "./use-kept-order.ts";

interface SourcesSectionProps {
  sources: readonly Source[];
  firstDay: string;
  days: DaysShown;
  onDays: (days: DaysShown) => void;
}

/** How many sources are shown at first, the worst among them. */
const FIRST = 40;

export function SourcesSection({ sources, firstDay, days, onDays }: SourcesSectionProps) {
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const room = useGrowingRoom(FIRST, all ? sources.length : FIRST);
  const { ordered, isOther, sortAgain } = useKeptOrder(sources);
  const [state, setState] = useState<State | null>(null);
  const [labels, setLabels] = useState<LabelFilter>({});
  const hasMenu = useMe().user.role !== "reader";
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const ofState = ordered.filter(
    (source) => (state === null || source.state === state) && hasLabels(source, labels),
  );
  const found =
    wanted === ""
      ? ofState
      : ofState.filter(({ name, slug }) => `${name}\n${slug}`.toLowerCase().includes(wanted));
  const shown = found.slice(0, room);
  const words = home.sources;
  return (
    <Section title={words.heading}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <Group align="flex-end" gap="sm">
          <TextInput
            label={words.filter}
            type="search"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <LabelFilters
            sources={sources}
            filter={labels}
            onChange={(more) => setLabels({ ...labels, ...more })}
          />
          <Text size="sm" role="status" pb={7}>
            {found.length === 0
              ? ofState.length === 0
                ? words.noneLeft
                : words.noMatch(text)
              : words.shown(found.length, sources.length)}
          </Text>
        </Group>
        <SegmentedControl
          aria-label={words.days}
          value={String(days)}
          onChange={(value) => onDays(value === "90" ? 90 : 30)}
          data={[30, 90].map((count) => ({ value: String(count), label: words.daysOption(count) }))}
        />
      </Group>
      <StateChips sources={sources} value={state} onChange={setState} />
      {isOther && (
        <Group>
          <Button size="compact-sm" variant="default" onClick={sortAgain}>
            {words.sortAgain}
          </Button>
        </Group>
      )}
      {found.length > 0 && (
        <table className={classes["table"]} aria-label={words.heading}>
          <thead>
            <tr>
              <th scope="col">{words.columns.source}</th>
              <th scope="col">{words.columns.backup}</th>
              <th scope="col">{words.columns.proof}</th>
              <th scope="col">{words.columns.days(days)}</th>
              <th scope="col">{words.columns.restore}</th>
              {hasMenu && (
                <th scope="col">
                  <span className={classes["unseen"]}>{words.actions}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {shown.map((source) => (
              <SourceRow key={source.id} source={source} firstDay={firstDay} hasMenu={hasMenu} />
            ))}
          </tbody>
        </table>
      )}
      {!all && found.length > shown.length && (
        <Group justify="center">
          <Button variant="default" onClick={() => setAll(true)}>
            {words.showAll(found.length - shown.length)}
          </Button>
        </Group>
      )}
      <Legend />
    </Section>
  );
}

function Legend() {
  return (
    <Group justify="space-between" gap="xs">
      <ul className={classes["legend"]}>
        {DAY_LETTERS.map((letter) => (
          <li key={letter}>
            <DayShape letter={letter} />
            {dayWord(letter)}
          </li>
        ))}
      </ul>
      <Text size="xs" c="dimmed">
        {home.sources.daysZone}
      </Text>
    </Group>
  );
}
