import type { AssertedCredential, RegisteredCredential } from "@attestore/contract";
import { errorMessage } from "@attestore/host/errno";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import { ApiError } from "../../platform/errors/api-error.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { RelyingParty } from "./relying-party.ts";

/** COSE algorithms (RFC 9053): Ed25519, ES256, RS256. */
export const ALGORITHMS = [-8, -7, -257];

export interface NewCredential {
  id: Buffer;
  publicKey: Buffer;
  counter: number;
  synced: boolean;
}

interface Expected {
  challenge: string;
  party: RelyingParty;
  logger: Logger;
}

/** A new passkey's answer to our challenge. Throws `passkey_invalid`. */
export async function checkRegistration(
  { id, rawId, type, response }: RegisteredCredential,
  expected: Expected,
): Promise<NewCredential> {
  const { clientDataJSON, attestationObject } = response;
  const verified = await refusedAsInvalid(expected.logger, () => {
    assertNoChain(attestationObject);
    return verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type,
        response: { clientDataJSON, attestationObject },
        clientExtensionResults: {},
      },
      ...whatCounts(expected),
      supportedAlgorithmIDs: ALGORITHMS,
    });
  });
  if (!verified.verified) throw passkeyInvalid();
  const { credential, credentialDeviceType } = verified.registrationInfo;
  return {
    id: Buffer.from(credential.id, "base64url"),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    synced: credentialDeviceType === "multiDevice",
  };
}

/**
 * A passkey's signature over our challenge. Returns the counter that it reports. Throws
 * `passkey_invalid`.
 */
export async function checkAssertion(
  { id, rawId, type, response }: AssertedCredential,
  { public_key, handle }: { public_key: Buffer; handle: Buffer },
  expected: Expected,
): Promise<number> {
  // Without a list of credentials, the authenticator has to say which user the passkey is for.
  if (response.userHandle !== handle.toString("base64url")) throw passkeyInvalid();
  const { clientDataJSON, authenticatorData, signature } = response;
  const verified = await refusedAsInvalid(expected.logger, () =>
    verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type,
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      ...whatCounts(expected),
      // The counter is checked where it is stored, in one statement.
      credential: { id, publicKey: new Uint8Array(public_key), counter: 0 },
    }),
  );
  if (!verified.verified) throw passkeyInvalid();
  return verified.authenticationInfo.newCounter;
}

/** One answer, whatever is wrong. */
export function passkeyInvalid(): ApiError {
  return new ApiError(
    "passkey_invalid",
    "This passkey was not accepted. It may have been removed from this service, or the attempt took longer than five minutes. Try again.",
  );
}

function whatCounts({ challenge, party }: Expected) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  };
}

/**
 * We ask for no attestation and accept none. The library would read the certificates of such a
 * statement and fetch the URLs in them, but nobody outside may decide what the service connects to.
 */
function assertNoChain(attestationObject: string): void {
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const format = decoded.get("fmt");
  if (format === "none" || (format === "packed" && decoded.get("attStmt").get("x5c") === undefined)) return;
  throw new Error(`an attestation of the format ${String(format)} was not asked for`);
}

async function refusedAsInvalid<T>(logger: Logger, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    logger.info({ reason: errorMessage(error) }, "a passkey was refused");
    throw passkeyInvalid();
  }
}
