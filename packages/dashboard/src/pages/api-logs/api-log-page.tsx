import { Anchor, Code, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { formatMilliseconds } from "../../text/format.ts";
import { apiLogText } from "../../text/api-logs.ts";
import { Actor } from "./actor.tsx";
import { CallStatus } from "./call-status.tsx";
import { apiLogQuery } from "./queries.ts";

const text = apiLogText.page;
const route = getRouteApi("/signed-in/api-logs/$logId");

export function ApiLogPage() {
  const { logId } = route.useParams();
  const query = useQuery(apiLogQuery(useOrgId(), logId));
  return (
    <QueryResult query={query} isPage>
      {(log) => (
        <Page
          title={text.title(log.method, log.route)}
          lead={
            <Anchor inherit renderRoot={(props) => <Link to="/api-logs" {...props} />}>
              {text.back}
            </Anchor>
          }
        >
          <FactList
            facts={[
              [text.at, <Moment key="at" at={log.created_at} />],
              [text.actor, <Actor key="actor" log={log} />],
              [text.kind, apiLogText.kinds[log.actor.kind]],
              [text.path, <Code key="path">{log.path}</Code>],
              [
                text.status,
                <span key="status">
                  <CallStatus status={log.status} /> – {text.meaning(log.status)}
                </span>,
              ],
              [text.duration, formatMilliseconds(log.duration_ms)],
              [text.address, log.address],
              [text.userAgent, log.user_agent ?? text.unknown],
              [text.requestId, <Code key="request">{log.request_id}</Code>],
              ...(log.idempotency_key === undefined
                ? []
                : [[text.idempotencyKey, <Code key="idempotency">{log.idempotency_key}</Code>] as const]),
              [text.id, <Code key="id">{log.id}</Code>],
            ]}
          />
          <Text size="sm" c="dimmed">
            {text.requestHint}
          </Text>
        </Page>
      )}
    </QueryResult>
  );
}
