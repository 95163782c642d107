import { Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { RecordTable } from "../../parts/records/record-table.tsx";
import { formatMilliseconds } from "../../text/format.ts";
import { notifications, TYPE_WORDS } from "../../text/notifications.ts";
import { people } from "../../text/people.ts";
import { type Delivery, deliveryQuery } from "./queries.ts";

const text = notifications.deliveries;

/** All attempts at one delivery, and the message. */
export function DeliveryDetails({ delivery }: { delivery: Delivery }) {
  const [opened, { open, close }] = useDisclosure(false);
  const { type, subject } = delivery;
  const what = subject === null ? TYPE_WORDS[type] : `${TYPE_WORDS[type]}: ${subject.name}`;
  return (
    <>
      <Button size="xs" variant="default" aria-label={text.of(what)} onClick={open}>
        {text.details}
      </Button>
      <Dialog opened={opened} onClose={close} title={what} size="wide">
        <Detail delivery={delivery} />
      </Dialog>
    </>
  );
}

function Detail({ delivery: { id, org_id } }: { delivery: Delivery }) {
  const query = useQuery(deliveryQuery(org_id, id));
  return (
    <QueryResult query={query}>
      {({ tried, data, status }) => (
        <Stack>
          <Title order={3} size="h5">
            {text.tried}
          </Title>
          {tried.length === 0 ? (
            <Text size="sm">{text.noAttempt}</Text>
          ) : (
            <RecordTable
              caption={text.tried}
              rows={tried}
              rowKey={({ attempt }) => String(attempt)}
              columns={[
                { header: text.attempt, cell: ({ attempt }) => attempt },
                { header: text.at, cell: ({ at }) => <Moment at={at} /> },
                { header: text.outcome, cell: ({ message }) => message },
                { header: text.took, cell: ({ duration_ms }) => formatMilliseconds(duration_ms) },
              ]}
            />
          )}
          {(status === "failed" || status === "cancelled") && <Retry orgId={org_id} deliveryId={id} />}
          <Title order={3} size="h5">
            {text.sent}
          </Title>
          <Code block tabIndex={0} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {JSON.stringify(data, null, 2)}
          </Code>
        </Stack>
      )}
    </QueryResult>
  );
}

function Retry({ orgId, deliveryId }: { orgId: string; deliveryId: string }) {
  const mayManage = useMayManage();
  const client = useQueryClient();
  const retry = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/notifications/deliveries/{deliveryID}/retry", {
        path: { orgID: orgId, deliveryID: deliveryId },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["notifications", orgId] }),
  });
  return (
    <Stack gap="xs">
      <Group>
        <ReasonedButton
          loading={retry.isPending}
          disabledReason={mayManage ? null : people.onlyManagers}
          onClick={() => retry.mutate()}
        >
          {text.retry}
        </ReasonedButton>
      </Group>
      {retry.isSuccess && (
        <Text size="sm" role="status">
          {text.retried}
        </Text>
      )}
      {retry.isError && <FailurePanel error={retry.error} />}
    </Stack>
  );
}
