import type { Schemas } from "@attestore/contract/client";
import { Checkbox, Radio, Stack } from "@mantine/core";
import { notifications, TYPE_WORDS } from "../../text/notifications.ts";

type Type = Schemas["SubscribableType"];
const text = notifications.types;

const TYPES = Object.keys(TYPE_WORDS).filter(
  (type): type is Type => type !== "notification.test" && type !== "evidence.weekly",
);

interface TypeChoiceProps {
  /** Null for all of them. */
  types: readonly Type[] | null;
  onChange: (types: Type[] | null) => void;
}

/** A choice of all notification types or some. */
export function TypeChoice({ types, onChange }: TypeChoiceProps) {
  return (
    <Radio.Group
      label={text.label}
      value={types === null ? "all" : "some"}
      onChange={(value) => onChange(value === "all" ? null : [...TYPES])}
      error={types?.length === 0 ? text.none : undefined}
    >
      <Stack gap="xs" mt={4}>
        <Radio value="all" label={text.all} />
        <Radio value="some" label={text.some} />
        {types !== null && (
          <Checkbox.Group
            aria-label={text.label}
            value={[...types]}
            onChange={(values) => onChange(TYPES.filter((type) => values.includes(type)))}
          >
            <Stack gap={6} pl="lg">
              {TYPES.map((type) => (
                <Checkbox key={type} size="xs" value={type} label={TYPE_WORDS[type]} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
      </Stack>
    </Radio.Group>
  );
}
