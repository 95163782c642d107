/**
 * An authenticator in software, as a browser with one answers: real key pairs and signatures,
 * WebAuthn's own formats (level 3, sections 5.8.1,
 * 6.1 and 6.5). What a test lets it get wrong is named in `Wrong`.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export interface Wrong {
  /** The page that asked; the service's own unless told. */
  origin?: string;
  rpId?: string;
  challenge?: string;
  /** What the authenticator says that it counted. */
  counter?: number;
  userVerified?: boolean;
  type?: string;
  userHandle?: string;
  /** In place of "none", with an empty statement. */
  format?: string;
}

export interface CreationAsked {
  challenge: string;
  rp: { id: string };
  user: { id: string };
}

export interface AssertionAsked {
  challenge: string;
  rpId: string;
}

export class SoftwareAuthenticator {
  readonly origin: string;
  readonly id = randomBytes(32);
  readonly #keys: { privateKey: KeyObject; publicKey: KeyObject } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
  });
  counter = 0;
  userHandle = "";

  constructor(origin: string) {
    this.origin = origin;
  }

  /** RegistrationResponseJSON */
  create(asked: CreationAsked, wrong: Wrong = {}): Record<string, unknown> {
    this.userHandle = asked.user.id;
    const { x, y } = this.#keys.publicKey.export({ format: "jwk" });
    const coseKey = cbor(
      new Map<unknown, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x ?? "", "base64url")],
        [-3, Buffer.from(y ?? "", "base64url")],
      ]),
    );
    const length = Buffer.from([this.id.length >> 8, this.id.length & 255]);
    const authData = Buffer.concat([
      this.#authData(wrong.rpId ?? asked.rp.id, 0x40, wrong),
      Buffer.alloc(16),
      length,
      this.id,
      coseKey,
    ]);
    const attestation = new Map<unknown, unknown>([
      ["fmt", wrong.format ?? "none"],
      ["attStmt", new Map()],
      ["authData", authData],
    ]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: this.#clientData("webauthn.create", asked.challenge, wrong).toString("base64url"),
        attestationObject: cbor(attestation).toString("base64url"),
        transports: ["internal"],
      },
    };
  }

  /** AuthenticationResponseJSON */
  get(asked: AssertionAsked, wrong: Wrong = {}): Record<string, unknown> {
    const authData = this.#authData(wrong.rpId ?? asked.rpId, 0, wrong);
    const clientData = this.#clientData("webauthn.get", asked.challenge, wrong);
    const signed = Buffer.concat([authData, createHash("sha256").update(clientData).digest()]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authData.toString("base64url"),
        signature: sign("sha256", signed, this.#keys.privateKey).toString("base64url"),
        userHandle: wrong.userHandle ?? this.userHandle,
      },
    };
  }

  #credential(): Record<string, unknown> {
    const id = this.id.toString("base64url");
    return { id, rawId: id, type: "public-key", clientExtensionResults: {} };
  }

  #authData(rpId: string, flags: number, { counter, userVerified }: Wrong): Buffer {
    const counted = Buffer.alloc(4);
    counted.writeUInt32BE(counter ?? this.counter);
    // user present, user verified
    const all = flags | 0x01 | (userVerified === false ? 0 : 0x04);
    return Buffer.concat([createHash("sha256").update(rpId).digest(), Buffer.from([all]), counted]);
  }

  #clientData(type: string, challenge: string, wrong: Wrong): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? this.origin,
        crossOrigin: false,
      }),
    );
  }
}

/** The part of CBOR (RFC 8949) that authenticators write: integers, bytes, text and maps. */
function cbor(value: unknown): Buffer {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, of]) => [cbor(key), cbor(of)])]);
  throw new Error("no authenticator writes this");
}

function head(major: number, count: number): Buffer {
  const kind = major << 5;
  if (count < 24) return Buffer.from([kind | count]);
  if (count < 256) return Buffer.from([kind | 24, count]);
  return Buffer.from([kind | 25, count >> 8, count & 255]);
}
