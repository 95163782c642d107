import { Code } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { quotasQuery } from "../../api/quotas.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { EmptyState } from "../../parts/feedback/empty-state.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { QuotaFacts } from "../../parts/facts/quota-facts.tsx";
import { RecordTable } from "../../parts/records/record-table.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { operators } from "../../text/operators.ts";
import { quotas as quotaText } from "../../text/quotas.ts";
import { membersQuery } from "../members/queries.ts";
import { ChangeQuotas } from "./change-quotas.tsx";
import { Impersonate } from "./impersonate.tsx";
import { orgQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/operator/$orgId");
const text = operators.detail;

/** One organisation as an operator sees it: its quotas and members. */
export function OrganisationPage() {
  const { orgId } = route.useParams();
  const org = useQuery(orgQuery(orgId));
  const quotas = useQuery(quotasQuery(orgId));
  const members = useQuery(membersQuery(orgId));
  return (
    <QueryResult query={org} isPage>
      {({ id, name }) => (
        <Page title={name} lead={text.lead} actions={<Link to="/operator">{text.back}</Link>}>
          <span>
            {text.id}: <Code>{id}</Code>
          </span>
          <Section title={quotaText.title}>
            <QueryResult query={quotas}>
              {(current) => (
                <>
                  <QuotaFacts quotas={current} />
                  <ChangeQuotas name={name} current={current} />
                </>
              )}
            </QueryResult>
          </Section>
          <QueryResult query={members}>
            {(people) =>
              people.length === 0 ? (
                <EmptyState>{text.empty}</EmptyState>
              ) : (
                <RecordTable
                  caption={name}
                  rows={people}
                  rowKey={(person) => person.id}
                  columns={[
                    { header: text.person, cell: (person) => person.name ?? person.email },
                    { header: text.email, cell: (person) => person.email },
                    { header: text.role, cell: (person) => person.role },
                    { header: text.action, cell: (person) => <Impersonate person={person} /> },
                  ]}
                />
              )
            }
          </QueryResult>
        </Page>
      )}
    </QueryResult>
  );
}
