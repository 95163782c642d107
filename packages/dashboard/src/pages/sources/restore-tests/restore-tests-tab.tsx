import { Button, Group, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMayManage, useOrgId } from "../../../api/session.ts";
import { QueryResult } from "../../../parts/feedback/query-result.tsx";
import { EmptyState } from "../../../parts/feedback/empty-state.tsx";
import { MoreButton } from "../../../parts/records/more-button.tsx";
import { checkBuilder } from "../../../text/check-builder.ts";
import { sourceText } from "../../../text/sources.ts";
import { LastChecks } from "./last-checks.tsx";
import { RestoreTimeChart } from "./restore-time-chart.tsx";
import { restoreTestsQuery, type SourceDetail } from "../queries.ts";
import { RestoreTestTable } from "./restore-test-table.tsx";
import { exactDuration } from "../typed-duration.ts";

const text = sourceText.tests;

/** How long each phase of the restore tests took, and the checks of the last test. */
export function RestoreTestsTab({ source }: { source: SourceDetail }) {
  const tests = useInfiniteQuery(restoreTestsQuery(useOrgId(), source.id));
  const mayManage = useMayManage();
  const rto_s = source.objectives?.rto_s ?? null;
  const { older_than_30_days: older = 0, tested_within_90_days: tested = 0 } = source.coverage ?? {};
  return (
    <Stack>
      <VisuallyHidden>
        <h2>{text.heading}</h2>
      </VisuallyHidden>
      {mayManage && (
        <Group>
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/sources/$sourceId/new-check" params={{ sourceId: source.id }} {...props} />
            )}
          >
            {checkBuilder.open}
          </Button>
        </Group>
      )}
      <QueryResult query={tests}>
        {({ pages }) => {
          const all = pages.flatMap(({ items }) => items);
          const [last, before] = all;
          if (last === undefined) return <EmptyState>{text.none}</EmptyState>;
          return (
            <Stack gap="lg">
              <Text>{rto_s === null ? text.noRto : text.rto(exactDuration(rto_s))}</Text>
              {older > 0 && <Text>{text.coverage(tested, older)}</Text>}
              <RestoreTimeChart tests={all} rto_s={rto_s} />
              <LastChecks test={last} before={before} />
              <RestoreTestTable tests={all} rto_s={rto_s} />
              <MoreButton list={tests} />
            </Stack>
          );
        }}
      </QueryResult>
    </Stack>
  );
}
