import type { Schemas } from "@attestore/contract/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useOrgId } from "../../api/session.ts";
import { Age, useNow } from "../../parts/marks/age.tsx";
import { EmptyState } from "../../parts/feedback/empty-state.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
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
  const make = <MakeLink orgId={orgId} onMade={setUrl} />;
  return (
    <Page title={text.title} lead={text.lead} actions={make}>
      {url !== null && <MadeLink url={url} onDone={() => setUrl(null)} />}
      <RecordList
        list={list}
        caption={text.title}
        columns={columns}
        empty={<EmptyState>{text.empty}</EmptyState>}
      />
    </Page>
  );
}
