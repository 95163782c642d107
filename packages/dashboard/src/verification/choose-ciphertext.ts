import { envelopeFromJson, readStatement, type Receipt } from "@attestore/proof";

/**
 * The SHA-256 that a receipt names; null if the receipt cannot be read. It is not verified yet, so
 * it only chooses what to compare.
 */
export function namedCiphertext(receipt: Receipt): string | null {
  const { payload } = "bundle" in receipt ? envelopeFromJson(receipt.bundle.envelope) : receipt.envelope;
  return readStatement(payload).statement?.subject[0].digest.sha256 ?? null;
}

/**
 * The digest to compare a receipt with: the pasted one; else, among the files, the one that it
 * names; else one that none of the given receipts names, which then does not match.
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
