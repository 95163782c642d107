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

/** Shows a query's result, or that it is loading or failed. */
export function QueryResult<Data>({
  query,
  isPage = false,
  skeleton = <PageSkeleton />,
  children,
}: {
  query: Query<Data>;
  /** The content is a whole page with its own heading. */
  isPage?: boolean;
  /** In the shape of the content. */
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  const { data, error } = query;
  const retry = (): void => void query.refetch();
  if (data !== undefined)
    return error === null ? (
      children(data)
    ) : (
      // Keep showing the data from before.
      <Stack>
        <FailurePanel error={error} onRetry={retry} />
        {children(data)}
      </Stack>
    );
  if (error === null) return skeleton;
  if (isPage && error instanceof CallRefused && error.status === 404) return <NotFoundPanel />;
  return <FailurePanel error={error} onRetry={retry} isPage={isPage} />;
}
