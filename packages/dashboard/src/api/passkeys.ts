import type { Schemas } from "@attestore/contract/client";

/**
 * Converts options and credentials to and from WebAuthn's JSON (level 3, section 5.1), because not
 * every browser does.
 */

/** The user cancelled, or the browser could not; the service was not involved. */
export class NoPasskey extends Error {
  constructor(cause: unknown) {
    super("the browser gave no passkey", { cause });
    this.name = "NoPasskey";
  }

  /** The authenticator already has a passkey of this account. */
  get isThere(): boolean {
    return this.cause instanceof DOMException && this.cause.name === "InvalidStateError";
  }
}

export function knowsPasskeys(): boolean {
  return "PublicKeyCredential" in window;
}

/** Asks the user's authenticator to create a passkey. Throws NoPasskey. */
export async function createPasskey(
  asked: Schemas["CreationOptions"],
): Promise<Schemas["RegisteredCredential"]> {
  const { challenge, user, excludeCredentials, ...rest } = asked;
  const publicKey: PublicKeyCredentialCreationOptions = {
    ...rest,
    challenge: bytesOf(challenge),
    user: { ...user, id: bytesOf(user.id) },
    excludeCredentials: excludeCredentials.map(({ type, id, transports }) => ({
      type,
      id: bytesOf(id),
      ...(transports === undefined ? {} : { transports: transports as AuthenticatorTransport[] }),
    })),
  };
  const made = await orNoPasskey(() => navigator.credentials.create({ publicKey }));
  const response = made.response as AuthenticatorAttestationResponse;
  return {
    ...named(made),
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports(),
    },
  };
}

/** Asks the user to choose a passkey and sign with it. Throws NoPasskey. */
export async function signWithPasskey(
  asked: Schemas["RequestOptions"],
): Promise<Schemas["AssertedCredential"]> {
  const publicKey = { ...asked, challenge: bytesOf(asked.challenge) };
  const signed = await orNoPasskey(() => navigator.credentials.get({ publicKey }));
  const response = signed.response as AuthenticatorAssertionResponse;
  return {
    ...named(signed),
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      userHandle: response.userHandle === null ? null : textOf(response.userHandle),
    },
  };
}

async function orNoPasskey(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (error) {
    throw new NoPasskey(error);
  }
  throw new NoPasskey(undefined);
}

function named({ rawId }: PublicKeyCredential) {
  const id = textOf(rawId);
  return { id, rawId: id, type: "public-key" } as const;
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function textOf(buffer: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
