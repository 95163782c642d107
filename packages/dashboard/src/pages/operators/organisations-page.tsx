import type { Schemas } from "@attestore/contract/client";
import { Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Awaited } from "../../parts/awaited.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Moment } from "../../parts/moment.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { Page } from "../../parts/page.tsx";
import { type Column, RecordTable } from "../../parts/record-table.tsx";
import { operators as text } from "../../text/operators.ts";
import { CreateOrganisation } from "./create-organisation.tsx";
import { orgListQuery } from "./queries.ts";

const COLUMNS: readonly Column<Schemas["OrgRecord"]>[] = [
  {
    header: text.column.name,
    cell: ({ id, name }) => (
      <Link to="/operator/$orgId" params={{ orgId: id }}>
        {name}
      </Link>
    ),
  },
  { header: text.column.slug, cell: ({ slug }) => slug },
  { header: text.column.log, cell: ({ public_log }) => (public_log ? text.log.public : text.log.private) },
  { header: text.column.since, cell: ({ created_at }) => <Moment at={created_at} /> },
];

/** The operators' console. */
export function OrganisationsPage() {
  const list = useInfiniteQuery(orgListQuery);
  return (
    <Page title={text.title} lead={text.lead} actions={<CreateOrganisation />}>
      <Awaited query={list}>
        {({ pages }) => {
          const orgs = pages.flatMap(({ items }) => items);
          if (orgs.length === 0) return <EmptyState>{text.empty}</EmptyState>;
          return (
            <Stack>
              <RecordTable caption={text.title} columns={COLUMNS} rows={orgs} rowKey={({ id }) => id} />
              <MoreButton list={list} />
            </Stack>
          );
        }}
      </Awaited>
    </Page>
  );
}
