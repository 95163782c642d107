import type { Schemas } from "@attestore/contract/client";
import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { pagedQuery, pageOf } from "../../api/paged-query.ts";
import { useMayManage, useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { EmptyState } from "../../parts/feedback/empty-state.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
import { authKeys as text } from "../../text/auth-keys.ts";
import { Issuer } from "../commands/issuer.tsx";
import { RevokeKey } from "./revoke-key.tsx";

const keysQuery = (orgID: string) =>
  pagedQuery(["auth-keys", orgID], async (cursor) => {
    const query = pageOf(cursor);
    return (await api.call("get", "/api/orgs/{orgID}/auth-keys", { path: { orgID }, query })).body;
  });

const COLUMNS: readonly Column<Schemas["AuthKeyRecord"]>[] = [
  { header: text.column.name, cell: ({ name }) => name ?? text.unnamed },
  { header: text.column.expires, cell: ({ expires_at }) => <Moment at={expires_at} /> },
  { header: text.column.uses, cell: ({ uses, max_uses }) => text.uses(uses, max_uses) },
  { header: text.column.last, cell: ({ last_used_at }) => <Age at={last_used_at} fallback={text.never} /> },
  { header: text.column.wrong, cell: ({ wrong_attempts }) => text.wrong(wrong_attempts) },
  {
    header: text.column.by,
    cell: ({ created_by }) => (created_by === "console" ? text.console : <Issuer id={created_by} />),
  },
  { header: text.column.action, cell: (authKey) => <RevokeKey authKey={authKey} /> },
];

export function AuthKeysPage() {
  const list = useInfiniteQuery(keysQuery(useOrgId()));
  const make = useMayManage() ? (
    <Button renderRoot={(props) => <Link to="/attach" {...props} />}>{text.make}</Button>
  ) : undefined;
  return (
    <Page title={text.title} lead={text.lead} actions={make}>
      <RecordList
        list={list}
        caption={text.title}
        columns={COLUMNS}
        empty={<EmptyState action={make}>{text.empty}</EmptyState>}
      />
    </Page>
  );
}
