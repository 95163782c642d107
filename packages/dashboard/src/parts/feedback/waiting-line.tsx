import { Group, Loader, Text } from "@mantine/core";

/** Says what is being waited for. */
export function WaitingLine({ children }: { children: string }) {
  return (
    <Group gap="sm" role="status" wrap="nowrap">
      <Loader size="sm" aria-hidden="true" />
      <Text size="sm">{children}</Text>
    </Group>
  );
}
