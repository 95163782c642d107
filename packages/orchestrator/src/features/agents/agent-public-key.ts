import { parsePublicKeyWire, ProofError, type PublicKey } from "@attestore/proof";
import { invalidRequest } from "../../platform/errors/api-error.ts";

/**
 * Reads the public key that an agent will sign with. Throws `invalid_request` for a key that is
 * weak or malformed.
 */
export function readPublicKey(wire: string): PublicKey {
  try {
    return parsePublicKeyWire(wire);
  } catch (error) {
    if (error instanceof ProofError) throw refused(error.message);
    throw error;
  }
}

function refused(message: string): Error {
  return invalidRequest("This kind of public key cannot sign receipts.", [{ path: "/public_key", message }]);
}
