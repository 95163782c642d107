import { envelopeFromJson, PREDICATE_BACKUP, PREDICATE_RESTORE_TEST, ProofError } from "@attestore/proof";
import { Anchor, Button, Group, Text } from "@mantine/core";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { receipts } from "../../text/receipts.ts";
import { cosignCommand, fileNames, opensslCommands, verifierCommand } from "./check-commands.ts";
import type { ReceiptDetail } from "./queries.ts";

const text = receipts.elsewhere;

/** The receipt as files, and the commands that check them with other tools. */
export function CheckElsewhere({
  receipt,
  ciphertextSha256,
}: {
  receipt: ReceiptDetail;
  ciphertextSha256: string;
}) {
  const names = fileNames(receipt.id);
  const bundle = `/api/receipts/${receipt.id}/bundle`;
  const checked = {
    id: receipt.id,
    predicateType: receipt.kind === "backup" ? PREDICATE_BACKUP : PREDICATE_RESTORE_TEST,
    ciphertextSha256,
  };
  const signature = signatureOf(receipt);
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <Group gap="sm">
        <Download href={bundle} name={names.bundle} label={text.bundle} />
        <Download href={`${bundle}?format=tlog-proof`} name={names.tlogProof} label={text.tlogProof} />
        <Download href={`${bundle}?format=sigstore`} name={names.sigstore} label={text.sigstore} />
      </Group>
      <Commands title={text.verifier} commands={verifierCommand(checked)} />
      {signature !== null && <Commands title={text.openssl} commands={opensslCommands(checked, signature)} />}
      <Commands title={text.cosign} commands={cosignCommand(checked)} />
      <Text size="sm" c="dimmed">
        {text.cosignNote}
      </Text>
      <Text size="sm">
        <Anchor inherit href="/verify">
          {text.page}
        </Anchor>
      </Text>
    </Section>
  );
}

function Download({ href, name, label }: { href: string; name: string; label: string }) {
  return (
    <Button component="a" variant="default" size="xs" href={href} download={name}>
      {label}
    </Button>
  );
}

function Commands({ title, commands }: { title: string; commands: string }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <CommandText label={title} text={commands} />
    </div>
  );
}

function signatureOf({ envelope }: ReceiptDetail): Uint8Array | null {
  try {
    return envelopeFromJson(envelope).signature;
  } catch (error) {
    if (error instanceof ProofError) return null;
    throw error;
  }
}
