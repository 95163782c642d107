import type { Statement } from "@attestore/proof";
import { Group, Text, Title } from "@mantine/core";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { PlainSourceName } from "../../parts/records/source-choice.tsx";
import { formatDuration, plural } from "../../text/format.ts";
import { receipts } from "../../text/receipts.ts";
import { factsOf, type IdView, outcomeOf, sentenceOf, whatItIs } from "../../verification/statement-view.tsx";
import { Seal } from "../../verification/seal.tsx";
import classes from "./certificate.module.css";
import type { ReceiptDetail } from "./queries.ts";
import { PrintButton, ShareButton } from "./share-buttons.tsx";
import { ThreeMarks } from "./three-marks.tsx";
import { useProofHere } from "./use-proof-here.ts";

const text = receipts.certificate;
const OUTCOMES = { passed: "proven", failed: "failed", backup: "backed_up" } as const;

/**
 * A receipt as a certificate: its outcome, when, and whether it is signed, logged and witnessed.
 * All of it is what the statement says, since only that is verified here: never the service's
 * summary.
 */
export function Certificate({
  receipt,
  statement,
  id,
}: {
  receipt: ReceiptDetail;
  statement: Statement;
  id: IdView;
}) {
  const { predicate } = statement;
  const took = (Date.parse(predicate.finished_at) - Date.parse(predicate.started_at)) / 1000;
  const proof = useProofHere(receipt);
  const { main, technical } = factsOf(statement, id);
  const outcome = outcomeOf(statement);
  const isRefuted = proof.state === "failed";
  return (
    <section className={classes["certificate"]} aria-label={text.label}>
      <div className={classes["head"]}>
        <Seal outcome={OUTCOMES[outcome]} proof={proof.state} />
        <div>
          <Title order={1} className={classes["outcome"] ?? ""}>
            {isRefuted ? text.notValid : whatItIs(statement)}
          </Title>
          {isRefuted && <Text>{text.claims(whatItIs(statement))}</Text>}
          <Text size="lg" fw={600} style={{ overflowWrap: "anywhere" }}>
            <PlainSourceName id={predicate.source_id} />
          </Text>
          <Text c="dimmed">
            <Moment at={predicate.started_at} withZone /> · {text.took(formatDuration(took))}
            {"checks" in predicate && predicate.checks.length > 0 && ` · ${checksText(predicate.checks)}`}
          </Text>
        </div>
      </div>
      <ThreeMarks proof={proof} isOfFailedTest={outcome === "failed"} />
      <Text>{isRefuted ? text.claims(sentenceOf(statement)) : sentenceOf(statement)}</Text>
      <FactList facts={main} />
      <details className={classes["details"]}>
        <summary>{text.details}</summary>
        <FactList
          facts={[
            ...technical,
            [receipts.page.recorded, <Moment key="r" at={receipt.created_at} withZone />],
            [receipts.page.index, receipt.log_index.toLocaleString("en-GB")],
            [text.leafHash, <code key="l">{receipt.leaf_hash}</code>],
            [text.id, <code key="i">{receipt.id}</code>],
          ]}
        />
      </details>
      <Group gap="sm" className={classes["buttons"] ?? ""}>
        <ShareButton />
        <PrintButton />
      </Group>
    </section>
  );
}

function checksText(checks: readonly { result: string }[]): string {
  const held = checks.filter(({ result }) => result === "passed").length;
  return text.held(held, plural(checks.length, "check"));
}
