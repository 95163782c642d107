import { isIP } from "node:net";
import { ApiError } from "../../platform/errors/api-error.ts";

/** Where passkeys of this service count: WebAuthn's relying party. */
export interface RelyingParty {
  /** A host name. A browser hands a passkey out to pages of this host only. */
  id: string;
  origin: string;
}

/**
 * From the address that is configured (ATTESTORE_PUBLIC_URL), never from what a request says.
 * Throws `conflict` where that has no name: browsers know no passkeys of an IP address.
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

/** Whether browsers know no passkeys of a service with this address. */
export function knowsNoPasskeys(publicUrl: string): boolean {
  return hasNoName(new URL(publicUrl).hostname);
}

function hasNoName(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}
