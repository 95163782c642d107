import { Chip, Group } from "@mantine/core";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { home, type Source } from "../../text/home.ts";
import { sourceText } from "../../text/sources.ts";

export type State = Source["state"];
const STATES: readonly State[] = ["failed", "missed", "none", "backed_up", "proven"];

/** Filters sources by state; only states that some source has. `null` is all. */
export function StateChips({
  sources,
  value,
  onChange,
}: {
  sources: readonly Source[];
  value: State | null;
  onChange: (state: State | null) => void;
}) {
  const counts = Map.groupBy(sources, ({ state }) => state);
  const shown = STATES.filter((state) => counts.has(state) || state === value);
  if (shown.length < 2) return null;
  return (
    <Group gap={6} role="group" aria-label={home.sources.chips}>
      <Chip size="xs" checked={value === null} onChange={() => onChange(null)}>
        {home.sources.all(sources.length)}
      </Chip>
      {shown.map((state) => (
        <Chip
          key={state}
          size="xs"
          checked={value === state}
          onChange={() => onChange(value === state ? null : state)}
          icon={null}
        >
          <Group gap={6} wrap="nowrap" component="span">
            <StatusMark status={state} size={12} label="" />
            {`${sourceText.states[state]} ${counts.get(state)?.length ?? 0}`}
          </Group>
        </Chip>
      ))}
    </Group>
  );
}
