import {
  formatVerifierKey,
  type NoteVerifier,
  type PublicKey,
  type Receipt,
  type ReceiptVerdict,
  verifyReceipt,
} from "@attestore/proof";

/**
 * Where a key comes from, which decides how much a verdict is worth: `given` by the reader,
 * `remembered` by this browser from an earlier visit, or `served` by the same service that serves
 * the receipt and this page.
 */
export type KeyOrigin = "given" | "remembered" | "served";

export interface SourcedKey<Key> {
  key: Key;
  origin: KeyOrigin;
}

export interface Keys {
  agent: SourcedKey<PublicKey> | null;
  log: SourcedKey<NoteVerifier> | null;
  witnesses: readonly SourcedKey<NoteVerifier>[];
}

export const NO_KEYS: Keys = { agent: null, log: null, witnesses: [] };

export interface VerdictHere extends ReceiptVerdict {
  /** Whether the reader or this browser already had every key it used. */
  independent: boolean;
  /**
   * Everything held, but only with keys that the service serves: `cannot_tell`, as attestore-verify
   * says without those keys.
   */
  heldByServed: boolean;
}

/**
 * Verifies a receipt in this browser. Every witness whose key the reader gave must have cosigned.
 * Cosignatures of witnesses that the service names are shown, and make a receipt false only if one
 * does not hold.
 */
export async function verifyInBrowser(
  receipt: Receipt,
  keys: Keys,
  ciphertextSha256?: string,
): Promise<VerdictHere> {
  const known = distinct(keys.witnesses);
  const given = known.filter(({ origin }) => origin === "given");
  const witnesses = given.length > 0 ? given : known;
  const verdict = await verifyReceipt({
    ...receipt,
    publicKey: keys.agent?.key,
    logKey: keys.log?.key,
    witnessKeys: witnesses.map(({ key }) => key),
    requireWitnesses: given.length,
    ciphertextSha256,
  });
  const used = [keys.agent, ...("bundle" in receipt ? [keys.log] : [])];
  const independent = used.every((key) => key !== null && key.origin !== "served");
  // Whoever runs the service can make every key it serves, so those keys alone never make a receipt
  // true.
  const heldByServed = verdict.verdict === "true" && !independent;
  return { ...verdict, ...(heldByServed ? { verdict: "cannot_tell" } : {}), independent, heldByServed };
}

/** A key that was given twice counts once. */
function distinct(witnesses: Keys["witnesses"]): Keys["witnesses"] {
  return [...new Map(witnesses.map((witness) => [formatVerifierKey(witness.key), witness])).values()];
}
