import { Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

interface PageProps {
  title: string;
  /** A mark before the title. */
  mark?: ReactNode;
  /** One sentence under the title, or the record's state. */
  lead?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A page's frame: its only level-1 heading, and the browser's title. */
export function Page({ title, mark, lead, actions, children }: PageProps) {
  usePageTitle(title);
  return (
    <Stack gap="lg" maw={1200}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <div style={{ flex: "1 1 18rem", minWidth: 0, overflowWrap: "anywhere" }}>
          <Group gap="xs" wrap="nowrap">
            {mark}
            <Title order={1} size="h2">
              {title}
            </Title>
          </Group>
          {lead !== undefined && (
            <Text component="div" c="dimmed" mt={4}>
              {lead}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap={8}>{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

/** The browser's title. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Attestore`;
  }, [title]);
}
