import { Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMe, useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { logText } from "../../text/log.ts";
import { BrowserSection } from "./browser-section.tsx";
import { SplitViewAlarm } from "./split-view-alarm.tsx";
import { LossBanner, ReadOnlyBanner } from "./loss-banner.tsx";
import { HeadSection } from "./head-section.tsx";
import { LookupSection } from "./lookup-section.tsx";
import { ToolsSection } from "./tools-section.tsx";
import { logKeysQuery } from "./queries.ts";
import { logWatchQuery } from "./watch-log.ts";
import { WitnessSection } from "./witness-section.tsx";

export function LogPage() {
  const orgId = useOrgId();
  const isReader = useMe().user.role === "reader";
  const client = useQueryClient();
  const watch = useQuery(logWatchQuery(orgId));
  const keys = useQuery(logKeysQuery(orgId));
  // Who asks wants to know what this look finds.
  const check = () => {
    client.setQueryData(logWatchQuery(orgId).queryKey, (seen) => seen && { ...seen, observation: null });
    void watch.refetch();
  };
  return (
    <Page title={logText.title} lead={logText.lead}>
      {/* The head of a read-only log cannot always be fetched. */}
      {keys.data?.read_only === true && <ReadOnlyBanner />}
      <QueryResult query={watch}>
        {(seen) => (
          <Stack gap="lg">
            {seen.splitView !== null && (
              <SplitViewAlarm origin={seen.keys.log_id} splitView={seen.splitView} />
            )}
            {seen.rollbacks.length > 0 && <LossBanner watch={seen} />}
            <BrowserSection watch={seen} onCheck={check} isChecking={watch.isFetching} />
            <HeadSection watch={seen} />
            {!isReader && <WitnessSection watch={seen} />}
            <LookupSection />
            <ToolsSection keys={seen.keys} />
          </Stack>
        )}
      </QueryResult>
    </Page>
  );
}
