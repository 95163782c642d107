import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";
import { strings } from "../../text/strings.ts";

const ROWS = 6;

/** A table while its rows load: a line of headers, and rows as high as those to come. */
export function TableSkeleton() {
  return (
    <Stack gap={6} aria-busy="true">
      <VisuallyHidden role="status">{strings.loading}</VisuallyHidden>
      <Skeleton height={16} width="70%" mb={6} />
      {Array.from({ length: ROWS }, (_, index) => (
        <Skeleton key={index} height={38} />
      ))}
    </Stack>
  );
}
