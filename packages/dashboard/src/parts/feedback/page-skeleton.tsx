import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";
import { strings } from "../../text/strings.ts";

/** A page while its data loads. */
export function PageSkeleton() {
  return (
    <Stack aria-busy="true">
      <VisuallyHidden role="status">{strings.loading}</VisuallyHidden>
      <Skeleton height={28} width="40%" />
      <Skeleton height={120} />
      <Skeleton height={120} />
    </Stack>
  );
}
