import { Group, List, Stack, Text } from "@mantine/core";
import { sourceText } from "../../../text/sources.ts";
import { visible } from "../../../text/visible.ts";
import type { Drift } from "../queries.ts";
import { objectWords } from "./change-words.ts";
import { FieldDrift } from "./field-drift.tsx";

const text = sourceText.drift;

/** Triggers, functions, grants and the like: their names, or how many there are of each kind. */
export function OtherDrift({ drift }: { drift: Drift }) {
  const { changes, field } = drift;
  const isNamed = changes !== undefined && Object.values(changes).some((names) => names.length > 0);
  if (!isNamed) return <FieldDrift drift={drift} />;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Text size="sm" fw={600}>
          {text.fields[field] ?? field}
        </Text>
        <Text size="sm">
          {text.counts(changes.added.length, changes.removed.length, changes.altered.length)}
        </Text>
      </Group>
      <List size="sm" listStyleType="none" aria-label={text.fields[field] ?? field}>
        {(["removed", "added", "altered"] as const).flatMap((how) =>
          changes[how].map((name) => (
            <List.Item key={`${how} ${name}`}>
              {text.marks[how]}: {visible(objectWords(name), 300)}
            </List.Item>
          )),
        )}
      </List>
    </Stack>
  );
}
