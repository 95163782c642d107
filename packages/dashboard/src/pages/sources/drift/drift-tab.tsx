import { Paper, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useOrgId } from "../../../api/session.ts";
import { Age } from "../../../parts/marks/age.tsx";
import { QueryResult } from "../../../parts/feedback/query-result.tsx";
import { EmptyState } from "../../../parts/feedback/empty-state.tsx";
import { Moment } from "../../../parts/marks/moment.tsx";
import { MoreButton } from "../../../parts/records/more-button.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { sourceText } from "../../../text/sources.ts";
import { FieldDrift } from "./field-drift.tsx";
import { type Drift, driftQuery, type SourceDetail } from "../queries.ts";
import { OtherDrift } from "./other-drift.tsx";
import { SchemaDrift } from "./schema-drift.tsx";

const text = sourceText.drift;

/**
 * Changes from one backup to the next, and between a backup and the sandbox it was restored into.
 */
export function DriftTab({ source }: { source: SourceDetail }) {
  const drift = useInfiniteQuery(driftQuery(useOrgId(), source.id));
  return (
    <Stack>
      <VisuallyHidden>
        <h2>{text.heading}</h2>
      </VisuallyHidden>
      <Text c="dimmed">{text.lead}</Text>
      <QueryResult query={drift}>
        {({ pages }) => {
          const groups = byBackup(pages.flatMap(({ items }) => items));
          if (groups.length === 0)
            return <EmptyState>{drift.hasNextPage ? text.noneMore : text.none}</EmptyState>;
          return groups.map(({ key, items, first }) => (
            <Paper key={key} withBorder p="md">
              <Stack gap="sm">
                <Text fw={600} component="h3">
                  <Age at={first.since} />, {text.between}{" "}
                  <RecordLink id={first.backup_id} inText>
                    <Moment at={first.since} />
                  </RecordLink>
                </Text>
                {items.map((item) =>
                  item.field === "other_objects" ? (
                    <OtherDrift key={item.field} drift={item} />
                  ) : item.kind === "schema" ? (
                    <SchemaDrift key={item.field} drift={item} />
                  ) : (
                    <FieldDrift key={item.field} drift={item} />
                  ),
                )}
              </Stack>
            </Paper>
          ));
        }}
      </QueryResult>
      <MoreButton list={drift} />
    </Stack>
  );
}

interface Group {
  key: string;
  first: Drift;
  items: Drift[];
}

/** Changes found together, the schema first. */
function byBackup(items: readonly Drift[]): Group[] {
  const groups = new Map<string, Group>();
  for (const item of items) {
    const key = `${item.backup_id} ${item.since}`;
    const group = groups.get(key) ?? { key, first: item, items: [] };
    if (item.kind === "schema") group.items.unshift(item);
    else group.items.push(item);
    groups.set(key, group);
  }
  return [...groups.values()];
}
