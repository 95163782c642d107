import { Code, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { AgentName } from "../../parts/records/agent-name.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { MoreButton } from "../../parts/records/more-button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { PlainSourceName, SourceName } from "../../parts/records/source-choice.tsx";
import { backups as text } from "../../text/backups.ts";
import { formatBytes, formatMoment } from "../../text/format.ts";
import { receipts } from "../../text/receipts.ts";
import { visible } from "../../text/visible.ts";
import { receiptListQuery } from "../receipts/queries.ts";
import { ReceiptMark } from "../receipts/receipt-mark.tsx";
import { BackupRetention } from "./backup-retention.tsx";
import { DownloadSection } from "./download-section.tsx";
import { Proof } from "./proof.tsx";
import { type Backup, backupQuery } from "./queries.ts";
import { engineName } from "../../text/engines.ts";

const route = getRouteApi("/signed-in/backups/$backupId");

export function BackupPage() {
  const { backupId } = route.useParams();
  return (
    <QueryResult query={useQuery(backupQuery(useOrgId(), backupId))} isPage>
      {(backup) => (
        <Page
          title={text.page.title(formatMoment(new Date(backup.created_at)))}
          lead={
            <>
              <PlainSourceName id={backup.source_id} />, <Code>{backup.id}</Code>
            </>
          }
        >
          <BackupFacts backup={backup} />
          <BackupReceipts backup={backup} />
          <BackupRetention backup={backup} />
          <DownloadSection key={backup.id} backup={backup} />
        </Page>
      )}
    </QueryResult>
  );
}

function BackupFacts({ backup }: { backup: Backup }) {
  const { source_metadata: metadata, cipher } = backup;
  return (
    <Section title={text.page.facts}>
      <FactList
        facts={[
          [text.page.source, <SourceName id={backup.source_id} />],
          [text.page.agent, <AgentName id={backup.agent_id} />],
          [text.page.made, <Moment at={backup.created_at} />],
          [text.page.proven, <Proof backup={backup} />],
          [text.page.size, formatBytes(backup.size_bytes)],
          [text.page.sha256, <Code>{backup.sha256}</Code>],
          [text.page.engine, visible(`${engineName(metadata.engine)} ${metadata.engine_version}`)],
          [text.page.format, visible(metadata.dump_format)],
          [text.page.recipients, <Code>{cipher.recipients.map((key) => visible(key)).join(", ")}</Code>],
          [
            text.page.status,
            backup.status === "expired" && backup.expires_at !== null
              ? text.page.expired(formatMoment(new Date(backup.expires_at)))
              : text.status[backup.status],
          ],
        ]}
      />
      <details>
        <summary>{text.page.more}</summary>
        <Code
          block
          tabIndex={0}
          aria-label={text.page.more}
          style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
        >
          {JSON.stringify(metadata, null, 2)}
        </Code>
      </details>
    </Section>
  );
}

function BackupReceipts({ backup }: { backup: Backup }) {
  const list = useInfiniteQuery(receiptListQuery(useOrgId(), { backup_id: backup.id }));
  return (
    <Section title={text.page.receipts}>
      <QueryResult query={list}>
        {({ pages }) => {
          const found = pages.flatMap(({ items }) => items);
          if (found.length === 0) return <Text>{text.page.noReceipts}</Text>;
          return (
            <Stack gap="xs">
              {found.map((receipt) => (
                <Group key={receipt.id} gap={6} wrap="nowrap">
                  <ReceiptMark receipt={receipt} />
                  <span>
                    <Link to="/receipts/$receiptId" params={{ receiptId: receipt.id }}>
                      {receipts.what[receipt.result ?? "backup"]}
                    </Link>
                    , <Age at={receipt.created_at} />
                  </span>
                </Group>
              ))}
              <MoreButton list={list} />
            </Stack>
          );
        }}
      </QueryResult>
    </Section>
  );
}
