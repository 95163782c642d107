import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { quotasQuery } from "../../api/quotas.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { QuotaFacts } from "../../parts/facts/quota-facts.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { quotas as text } from "../../text/quotas.ts";

/** The organisation's quotas on this service. */
export function QuotaSection({ orgId }: { orgId: string }) {
  const query = useQuery(quotasQuery(orgId));
  return (
    <Section title={text.title}>
      <Text size="sm">
        {text.explanation} {text.askOperator}
      </Text>
      <QueryResult query={query}>{(quotas) => <QuotaFacts quotas={quotas} />}</QueryResult>
    </Section>
  );
}
