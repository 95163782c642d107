import { Group, Text } from "@mantine/core";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { CONCERNS } from "../../text/home.ts";
import { sourceText } from "../../text/sources.ts";
import type { State } from "./listed-sources.ts";

/** A source's state and the reasons for it. */
export function SourceState({ state, concerns }: { state: State; concerns: readonly string[] }) {
  const words: Readonly<Record<string, string>> = CONCERNS;
  return (
    <div>
      <Group gap={6} wrap="nowrap" display="inline-flex">
        <StatusMark status={state} label="" />
        <span>{sourceText.states[state]}</span>
      </Group>
      {concerns.length > 0 && (
        <Text size="sm" c="dimmed">
          {concerns.map((concern) => words[concern] ?? concern).join("; ")}
        </Text>
      )}
    </div>
  );
}
