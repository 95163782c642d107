import { envelopeFromJson, parseStatement, ProofError, type ParsedStatement } from "@attestore/proof";
import { Alert, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { useOrgId } from "../../api/session.ts";
import { AgentName } from "../../parts/records/agent-name.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { Page, usePageTitle } from "../../parts/layout/page.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { SourceName } from "../../parts/records/source-choice.tsx";
import { receipts as text } from "../../text/receipts.ts";
import { visible } from "../../text/visible.ts";
import { StatementChecks, whatItIs } from "../../verification/statement-view.tsx";
import { Certificate } from "./certificate.tsx";
import { CheckElsewhere } from "./check-elsewhere.tsx";
import { type ReceiptDetail, receiptQuery } from "./queries.ts";
import { VerifyHere } from "./verify-here.tsx";

const route = getRouteApi("/signed-in/receipts/$receiptId");

export function ReceiptPage() {
  const { receiptId } = route.useParams();
  return (
    <QueryResult query={useQuery(receiptQuery(useOrgId(), receiptId))} isPage>
      {(receipt) => <Receipt receipt={receipt} />}
    </QueryResult>
  );
}

function Receipt({ receipt }: { receipt: ReceiptDetail }) {
  const parsed = useMemo(() => statementOf(receipt), [receipt]);
  // The outcome is the statement's: the service may say another.
  const title = parsed.ok ? whatItIs(parsed.statement) : text.certificate.id;
  const more = <VerifyHere key={receipt.envelope.payload} receipt={receipt} />;
  usePageTitle(title);
  if (!parsed.ok)
    return (
      <Page title={title}>
        <Alert color="red" variant="light" role="alert" title={text.page.unreadable}>
          {parsed.issues.map(({ path, message }) => visible(`${path} ${message}`)).join("; ")}
        </Alert>
        {more}
      </Page>
    );
  const { statement } = parsed;
  return (
    <Stack gap="lg" maw={1000}>
      <Certificate receipt={receipt} statement={statement} id={(id) => <RecordName id={id} />} />
      <StatementChecks statement={statement} />
      <Stack gap="lg" className="screen-only">
        {more}
        <CheckElsewhere receipt={receipt} ciphertextSha256={statement.subject[0].digest.sha256} />
      </Stack>
    </Stack>
  );
}

function RecordName({ id }: { id: string }) {
  if (id.startsWith("src_")) return <SourceName id={id} />;
  return id.startsWith("agent_") ? <AgentName id={id} /> : <RecordLink id={id} />;
}

/** The page shows what the service gave. Only verifying tells whether the agent signed it. */
function statementOf({ envelope }: ReceiptDetail): ParsedStatement {
  try {
    return parseStatement(envelopeFromJson(envelope).payload);
  } catch (error) {
    if (error instanceof ProofError) return { ok: false, issues: [{ path: "", message: error.message }] };
    throw error;
  }
}
