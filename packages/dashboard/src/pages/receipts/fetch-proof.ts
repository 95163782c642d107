import { CallRefused } from "@attestore/contract/client";
import {
  bundleFromJson,
  envelopeFromJson,
  equalBytes,
  parsePublicKeyWire,
  parseVerifierKey,
  ProofError,
  type ReceiptBundle,
} from "@attestore/proof";
import { api } from "../../api/client.ts";
import { pageOf } from "../../api/paged-query.ts";
import { readHeldHead } from "../../verifier/held-head.ts";
import { browserStorage } from "../../verification/browser-storage.ts";
import { receipts } from "../../text/receipts.ts";
import type { Keys } from "../../verifier/verify-in-browser.ts";
import type { ReceiptDetail } from "./queries.ts";

/**
 * Fetches a receipt's bundle and the keys to verify it with: those that the reader gave, else the
 * log key that this browser stored before, else those that the service serves. Throws ProofError
 * for a malformed bundle.
 */
export async function fetchProof(
  orgID: string,
  receiptID: string,
  given: Keys,
): Promise<{ bundle: ReceiptBundle; keys: Keys }> {
  const { body } = await api.call("get", "/api/receipts/{receiptID}/bundle", { path: { receiptID } });
  const bundle = bundleFromJson(body);
  const remembered = readHeldHead(browserStorage(), orgID)?.verifier_key;
  return {
    bundle,
    keys: {
      agent: given.agent ?? { key: parsePublicKeyWire(bundle.public_key), origin: "served" },
      log:
        given.log ??
        (remembered === undefined
          ? { key: parseVerifierKey(bundle.log.verifier_key), origin: "served" }
          : { key: parseVerifierKey(remembered), origin: "remembered" }),
      witnesses: given.witnesses.length > 0 ? given.witnesses : await servedWitnesses(orgID),
    },
  };
}

/**
 * The witnesses that the service names. None if the reader may not see them: then their
 * cosignatures are not checked.
 */
async function servedWitnesses(orgID: string): Promise<Keys["witnesses"]> {
  try {
    const { body } = await api.call("get", "/api/orgs/{orgID}/log/witnesses", {
      path: { orgID },
      query: pageOf(undefined, 200),
    });
    return body.items.flatMap(({ verifier_key }) => {
      const key = parseVerifierKey(verifier_key);
      if (key.algorithm !== "cosignature/v1")
        throw new ProofError("malformed_key", "the service lists a witness whose key is not a witness's key");
      return [{ key, origin: "served" as const }];
    });
  } catch (error) {
    if (error instanceof CallRefused && error.status === 403) return [];
    throw error;
  }
}

/** A different receipt, even a true one, is not an answer. Throws ProofError. */
export function requireSame(receipt: ReceiptDetail, bundle: ReceiptBundle): void {
  const [shown, proven] = [envelopeFromJson(receipt.envelope), envelopeFromJson(bundle.envelope)];
  if (bundle.leaf.id !== receipt.id || !equalBytes(shown.payload, proven.payload))
    throw new ProofError("malformed_bundle", receipts.here.wrongReceipt);
}
