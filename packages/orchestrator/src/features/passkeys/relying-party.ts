import { isIP } from "node:net";
import { ApiError } from "../../platform/errors/api-error.ts";

/** Where this service's passkeys are valid: WebAuthn's relying party. */
export interface RelyingParty {
  /** A host name. A browser hands a passkey only to pages of this host. */
  id: string;
  origin: string;
}

/**
 * From the configured address (ATTESTORE_PUBLIC_URL), never from a request. Throws `conflict` if
 * that has no name: browsers support no passkeys for an IP address.
 */
export function relyingParty(publicUrl: string): RelyingParty {
  const { hostname, origin } = new URL(publicUrl);
  if (knowsNoPasskeys(publicUrl))
    throw new ApiError(
      "conflict",
      `Passkeys need a host name, and this service's address is ${origin}. ${GIVE_IT_A_NAME}`,
    );
  return { id: hostname, origin };
}

export const GIVE_IT_A_NAME =
  "Set ATTESTORE_PUBLIC_URL to an address with a name, and open the dashboard there.";

/** Whether browsers support no passkeys for a service with this address. */
export function knowsNoPasskeys(publicUrl: string): boolean {
  return hasNoName(new URL(publicUrl).hostname);
}

function hasNoName(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}
