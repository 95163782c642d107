import type { Schemas } from "@attestore/contract/client";
import { Checkbox, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { QueryResult } from "../../../parts/feedback/query-result.tsx";
import { Moment } from "../../../parts/marks/moment.tsx";
import { MoreButton } from "../../../parts/records/more-button.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { RecordTable } from "../../../parts/records/record-table.tsx";
import { StatusMark } from "../../../parts/marks/status-mark.tsx";
import { formatBytes, formatMoment } from "../../../text/format.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";

const text = sourceSettingsText.retention;
type Preview = Schemas["RetentionPreview"];
type Decision = Preview["items"][number];

interface PreviewQuery {
  data: { pages: Preview[] } | undefined;
  error: Error | null;
  refetch: () => unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** What the rules would do now: which backups would be removed, and why the others stay. */
export function RetentionOutcome({
  preview,
  isCurrent,
}: {
  preview: PreviewQuery;
  /** Whether it matches the rules as typed. */
  isCurrent: boolean;
}) {
  const [onlyGoing, setOnlyGoing] = useState(false);
  return (
    <section aria-label={text.preview} aria-busy={!isCurrent}>
      <QueryResult query={preview}>
        {({ pages }) => {
          const [first] = pages;
          if (first === undefined) return null;
          const { keep_count, remove_count, remove_bytes, timezone } = first;
          if (keep_count + remove_count === 0) return <Text size="sm">{text.nothingYet}</Text>;
          const items = pages.flatMap((page) => page.items).filter(({ keep }) => !onlyGoing || !keep);
          return (
            <Stack gap="xs">
              <Text fw={600} component="h4">
                {text.preview}
              </Text>
              <Group gap="xs" role="status" wrap="nowrap" align="flex-start">
                {remove_count > 0 && <StatusMark status="missed" label="" />}
                <Text size="sm">
                  {isCurrent
                    ? text.previewLead(keep_count, remove_count, formatBytes(remove_bytes))
                    : text.notPreviewed}
                  {isCurrent && remove_count > 0 && ` ${text.irreversible}`}
                </Text>
              </Group>
              <Text size="xs" c="dimmed">
                {text.zone(timezone)}
              </Text>
              {remove_count > 0 && (
                <Checkbox
                  label={text.onlyGoing}
                  checked={onlyGoing}
                  onChange={(event) => setOnlyGoing(event.currentTarget.checked)}
                />
              )}
              <RecordTable
                caption={text.caption}
                rows={items}
                rowKey={({ backup_id }) => backup_id}
                columns={[
                  {
                    header: text.columns.backup,
                    cell: ({ backup_id, created_at }) => (
                      <RecordLink id={backup_id}>
                        <Moment at={created_at} timeZone={timezone} />
                      </RecordLink>
                    ),
                  },
                  {
                    header: text.columns.size,
                    numeric: true,
                    cell: ({ size_bytes }) => formatBytes(size_bytes),
                  },
                  {
                    header: text.columns.proven,
                    cell: ({ proven_at }) => (
                      <Group gap={6} wrap="nowrap" display="inline-flex">
                        <StatusMark status={proven_at === null ? "backed_up" : "proven"} size={14} label="" />
                        {proven_at === null ? text.notProven : text.provenWord}
                      </Group>
                    ),
                  },
                  { header: text.columns.outcome, cell: (decision) => <Outcome decision={decision} /> },
                ]}
              />
              <MoreButton list={preview} />
            </Stack>
          );
        }}
      </QueryResult>
    </section>
  );
}

function Outcome({ decision: { keep, reasons, expires_at } }: { decision: Decision }) {
  if (!keep)
    return (
      <Text size="sm" fw={700} component="span" c="var(--status-failed)">
        {expires_at === null ? text.goes : text.goesAt(formatMoment(new Date(expires_at)))}
      </Text>
    );
  const why = reasons.map(({ rule, period }) =>
    [text.reasons[rule] ?? rule, ...(period === undefined ? [] : [period])].join(" "),
  );
  return (
    <Text size="sm" component="span">
      {text.stays}: {why.join(", ")}
    </Text>
  );
}
