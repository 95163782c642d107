import type { Schemas } from "@attestore/contract/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../parts/feedback/empty-state.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
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
      <RecordList
        list={list}
        caption={text.title}
        columns={COLUMNS}
        empty={<EmptyState>{text.empty}</EmptyState>}
      />
    </Page>
  );
}
