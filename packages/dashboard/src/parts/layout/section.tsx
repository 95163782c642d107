import { Paper, Stack, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

/** A part of a page under a level-2 heading. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <Paper component="section" withBorder p="md" aria-labelledby={id}>
      <Stack gap="sm">
        <Title order={2} size="h4" id={id} style={{ overflowWrap: "anywhere" }}>
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}
