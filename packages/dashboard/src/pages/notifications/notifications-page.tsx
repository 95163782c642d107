import type { Schemas } from "@attestore/contract/client";
import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { EmptyState } from "../../parts/feedback/empty-state.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { useHasNoMail } from "../../api/signup.ts";
import { notifications as text } from "../../text/notifications.ts";
import { AddChannel } from "./add-channel.tsx";
import { ChannelTable } from "./channel-table.tsx";
import { DeliveryLog } from "./delivery-log.tsx";
import { channelsQuery } from "./queries.ts";
import type { ShownSecret } from "./shown-secret.ts";
import { WebhookSecret } from "./webhook-secret.tsx";

/** Who is notified about what, and the deliveries. */
export function NotificationsPage() {
  const orgId = useOrgId();
  const query = useQuery(channelsQuery(orgId));
  const hasNoMail = useHasNoMail();
  const [shown, setShown] = useState<ShownSecret | null>(null);
  const added = ({ secret }: Schemas["ChannelWithSecret"]): void =>
    setShown(secret === null ? null : { title: text.secret.title, secret });
  return (
    <Page
      title={text.title}
      lead={text.lead}
      actions={
        <>
          <AddChannel kind="email" orgId={orgId} onAdded={added} />
          <AddChannel kind="webhook" orgId={orgId} onAdded={added} />
        </>
      }
    >
      {hasNoMail && (
        <Alert color="orange" variant="light" role="status" title={text.noMail.title}>
          {text.noMail.text}
        </Alert>
      )}
      {shown !== null && <WebhookSecret shown={shown} onDone={() => setShown(null)} />}
      <QueryResult query={query}>
        {(channels) => (
          <>
            {channels.length === 0 ? (
              <EmptyState>{text.empty}</EmptyState>
            ) : (
              <ChannelTable channels={channels} onSecret={setShown} />
            )}
            <DeliveryLog orgId={orgId} channels={channels} />
          </>
        )}
      </QueryResult>
    </Page>
  );
}
