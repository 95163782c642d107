import type { NegativeControl } from "@attestore/proof";
import { Text } from "@mantine/core";
import { controlText } from "../text/control.ts";
import { visible } from "../text/visible.ts";

/** What a check made of data that the agent ruined on purpose. */
export function ControlNotes({ control }: { control: NegativeControl | undefined }) {
  return controlText(control).map((line) => (
    <Text size="xs" key={line}>
      {visible(line, 300)}
    </Text>
  ));
}
