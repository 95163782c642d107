import type { Schemas } from "@attestore/contract/client";
import { Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useOrgId } from "../../api/session.ts";
import { Age, useNow } from "../../parts/age.tsx";
import { Awaited } from "../../parts/awaited.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Moment } from "../../parts/moment.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { Page } from "../../parts/page.tsx";
import { type Column, RecordTable } from "../../parts/record-table.tsx";
import { auditor as text } from "../../text/auditor.ts";
import { dayBefore, dayOf } from "../../text/days.ts";
import { linkState } from "./link-state.ts";
import { MadeLink } from "./made-link.tsx";
import { MakeLink } from "./make-link.tsx";
import { linksQuery } from "./queries.ts";
import { RevokeLink } from "./revoke-link.tsx";

type Link = Schemas["AuditorLinkRecord"];

export function AuditorLinksPage() {
  const orgId = useOrgId();
  const [url, setUrl] = useState<string | null>(null);
  const list = useInfiniteQuery(linksQuery(orgId));
  const make = <MakeLink orgId={orgId} onMade={setUrl} />;
  return (
    <Page title={text.title} lead={text.lead} actions={make}>
      {url !== null && <MadeLink url={url} onDone={() => setUrl(null)} />}
      <Awaited query={list}>
        {({ pages }) => {
          const links = pages.flatMap(({ items }) => items);
          if (links.length === 0) return <EmptyState>{text.empty}</EmptyState>;
          return (
            <Stack>
              <LinkTable links={links} />
              <MoreButton list={list} />
            </Stack>
          );
        }}
      </Awaited>
    </Page>
  );
}

function LinkTable({ links }: { links: Link[] }) {
  const now = useNow();
  const columns: Column<Link>[] = [
    { header: text.column.name, cell: ({ name }) => name },
    { header: text.column.period, cell: ({ from, to }) => text.period(dayOf(from), dayBefore(to)) },
    { header: text.column.state, cell: (link) => text.state[linkState(link, now)] },
    { header: text.column.expires, cell: ({ expires_at }) => <Moment at={expires_at} /> },
    {
      header: text.column.openings,
      cell: ({ openings, last_opened_at }) => (
        <span>
          {text.openings(openings)}
          {last_opened_at !== null && (
            <>
              , {text.last} <Age at={last_opened_at} />
            </>
          )}
        </span>
      ),
    },
    { header: text.column.action, cell: (link) => <RevokeLink link={link} /> },
  ];
  return <RecordTable caption={text.title} columns={columns} rows={links} rowKey={({ id }) => id} />;
}
