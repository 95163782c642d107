import { isTypeId, ProofError } from "@attestore/proof";
import { Button, Group, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useOrgId } from "../../api/session.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { logText } from "../../text/log.ts";
import { MalformedResult, ReceiptResult } from "../../verification/receipt-result.tsx";
import { NO_KEYS, verifyInBrowser } from "../../verifier/verify-in-browser.ts";
import { fetchProof } from "../receipts/fetch-proof.ts";
import { LogResult } from "./log-result.tsx";
import { verifyEvent } from "./verify-event.ts";

const text = logText.lookup;

/** Checks whether a receipt or event is in the log, by its ID. */
export function LookupSection() {
  const orgId = useOrgId();
  const [id, setId] = useState("");
  const lookup = useMutation({ mutationFn: (wanted: string) => lookUp(orgId, wanted) });
  const isKnown = isTypeId(id.trim(), "rcpt") || isTypeId(id.trim(), "evt");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isKnown) lookup.mutate(id.trim());
  };
  const { data, error, variables } = lookup;
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <form onSubmit={submit}>
        <Group align="flex-start">
          <TextInput
            label={text.label}
            description={text.hint}
            value={id}
            error={id.trim() === "" || isKnown ? undefined : text.notId}
            maxLength={64}
            required
            autoComplete="off"
            spellCheck={false}
            w={360}
            maw="100%"
            onChange={({ currentTarget }) => setId(currentTarget.value)}
          />
          <Button type="submit" mt={{ base: 0, sm: 46 }} loading={lookup.isPending}>
            {text.button}
          </Button>
        </Group>
      </form>
      {error instanceof ProofError ? (
        <MalformedResult title={variables ?? ""} message={error.message} />
      ) : (
        error !== null && <FailurePanel error={error} />
      )}
      {data !== undefined && (
        <>
          {"receipt" in data ? <ReceiptResult {...data.receipt} /> : <LogResult {...data.event} />}
          <Text size="sm">
            <RecordLink id={variables ?? ""}>{text.open}</RecordLink>
          </Text>
        </>
      )}
    </Section>
  );
}

async function lookUp(orgId: string, id: string) {
  if (!id.startsWith("rcpt_")) {
    const { body } = await api.call("get", "/api/events/{eventID}", { path: { eventID: id } });
    requireAskedFor(id, body.id);
    return { event: await verifyEvent(orgId, body) };
  }
  const { bundle, keys } = await fetchProof(orgId, id, NO_KEYS);
  requireAskedFor(id, bundle.leaf.id);
  return { receipt: { verdict: await verifyInBrowser({ bundle }, keys), keys } };
}

function requireAskedFor(asked: string, answered: string): void {
  if (answered !== asked) throw new ProofError("malformed_bundle", text.another(answered));
}
