import { useQuery } from "@tanstack/react-query";
import { useMe, useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { type Column, RecordTable } from "../../parts/records/record-table.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { members as text } from "../../text/members.ts";
import { ChangeRole } from "./change-role.tsx";
import { InviteMember } from "./invite-member.tsx";
import type { Member } from "./member-rules.ts";
import { membersQuery } from "./queries.ts";
import { RemoveMember } from "./remove-member.tsx";

export function MembersPage() {
  const orgId = useOrgId();
  const me = useMe().user;
  const query = useQuery(membersQuery(orgId));
  return (
    <Page title={text.title} lead={text.lead} actions={<InviteMember orgId={orgId} />}>
      <QueryResult query={query}>
        {(all) => {
          const columns: Column<Member>[] = [
            {
              header: text.column.person,
              cell: ({ id, name, email, status, invitation_expires_at: until }) => (
                <span>
                  {name ?? email}
                  {id === me.id && ` (${text.you})`}
                  {status === "pending" &&
                    ` (${until !== undefined && Date.parse(until) <= Date.now() ? text.expired : text.pending})`}
                </span>
              ),
            },
            { header: text.column.email, cell: ({ email }) => email },
            { header: text.column.role, cell: (member) => <ChangeRole member={member} all={all} /> },
            { header: text.column.since, cell: ({ created_at }) => <Moment at={created_at} /> },
            { header: text.column.action, cell: (member) => <RemoveMember member={member} all={all} /> },
          ];
          return <RecordTable caption={text.title} columns={columns} rows={all} rowKey={({ id }) => id} />;
        }}
      </QueryResult>
      <Section title={text.meaning}>
        <FactList
          facts={(["owner", "admin", "auditor"] as const).map((role) => [
            text.roles[role],
            text.rolesExplained[role],
          ])}
        />
      </Section>
    </Page>
  );
}
