import { Group, Skeleton, Stack, VisuallyHidden } from "@mantine/core";
import { strings } from "../../text/strings.ts";

const ROWS = 8;

/** Home while it loads: the ring, the sentence, and rows of sources. */
export function HomeSkeleton() {
  return (
    <Stack gap="lg" aria-busy="true">
      <VisuallyHidden role="status">{strings.loading}</VisuallyHidden>
      <Group gap="lg" wrap="nowrap">
        <Skeleton height={88} circle />
        <Stack gap="xs" flex={1}>
          <Skeleton height={26} width="min(24rem, 100%)" />
          <Skeleton height={16} width="min(18rem, 80%)" />
        </Stack>
      </Group>
      <Stack gap={6}>
        {Array.from({ length: ROWS }, (_, index) => (
          <Skeleton key={index} height={44} />
        ))}
      </Stack>
    </Stack>
  );
}
