import { CallRefused } from "@attestore/contract/client";
import { Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { FailurePanel } from "./failure-panel.tsx";
import { NotFoundPanel } from "./not-found-panel.tsx";
import { PageSkeleton } from "./page-skeleton.tsx";

interface Query<Data> {
  data: Data | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** What needs an answer of the service: while it is on the way, where it failed, and when it is there. */
export function Awaited<Data>({
  query,
  isPage = false,
  children,
}: {
  query: Query<Data>;
  /** What is shown is a whole page, with its heading. */
  isPage?: boolean;
  children: (data: Data) => ReactNode;
}) {
  const { data, error } = query;
  const retry = (): void => void query.refetch();
  if (data !== undefined)
    return error === null ? (
      children(data)
    ) : (
      // What was known before stays to be read.
      <Stack>
        <FailurePanel error={error} onRetry={retry} />
        {children(data)}
      </Stack>
    );
  if (error === null) return <PageSkeleton />;
  if (isPage && error instanceof CallRefused && error.status === 404) return <NotFoundPanel />;
  return <FailurePanel error={error} onRetry={retry} isPage={isPage} />;
}
