import { Paper, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Replaces an empty list: says why it is empty, and what to do. */
export function EmptyState({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="sm">
        <Text ta="center">{children}</Text>
        {action}
      </Stack>
    </Paper>
  );
}
