import { envelopeFromJson, readStatement, type Receipt } from "@attestore/proof";

/** The SHA-256 that a receipt names; null of one that cannot be read. Nobody is known to have signed it: it only chooses what to compare. */
export function namedCiphertext(receipt: Receipt): string | null {
  const { payload } = "bundle" in receipt ? envelopeFromJson(receipt.bundle.envelope) : receipt.envelope;
  return readStatement(payload).statement?.subject[0].digest.sha256 ?? null;
}

/**
 * Which digest to hold a receipt against: the one that was pasted; of files the one that it names, else one that none of the receipts at hand
 * names, which is then another than it should be.
 */
export function chooseCiphertext(
  receipt: Receipt,
  {
    pasted,
    files,
    named,
  }: { pasted: string | undefined; files: readonly string[]; named: ReadonlySet<string> },
): string | undefined {
  if (pasted !== undefined) return pasted;
  const own = namedCiphertext(receipt);
  return files.find((sha256) => sha256 === own) ?? files.find((sha256) => !named.has(sha256));
}
