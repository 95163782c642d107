import { Type, type Static } from "typebox";
import { MAX_PASSKEYS, RECOVERY_CODES } from "../limits.ts";
import { GivenAttempt } from "./people.ts";
import { Count, Id, Label, strict, Timestamp } from "./scalars.ts";

/** Bytes in base64url, as in WebAuthn's JSON (WebAuthn level 3, section 5.1.8). */
const Base64Url = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[A-Za-z0-9_-]+$", examples: ["AAAA"] });

const CredentialId = Base64Url(1364);
const Challenge = Base64Url(64);

const PasskeyName = Label(60);

/** One of the caller's passkeys. */
export const PasskeyRecord = Type.Object(
  {
    id: Id("passkey"),
    created_at: Timestamp,
    name: Type.String(),
    last_used_at: Type.Union([Timestamp, Type.Null()]),
    /**
     * Whether a password manager or account syncs it to several devices, according to the
     * authenticator.
     */
    synced: Type.Boolean(),
  },
  strict,
);
export type PasskeyRecord = Static<typeof PasskeyRecord>;

/** 200 of `GET /api/auth/passkeys`. */
export const PasskeyList = Type.Object(
  { items: Type.Array(PasskeyRecord, { maxItems: MAX_PASSKEYS }), recovery_codes_left: Count },
  strict,
);

const CredentialDescriptor = Type.Object(
  {
    type: Type.Literal("public-key"),
    id: CredentialId,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 8 })),
  },
  strict,
);

/**
 * 200 of `POST /api/auth/passkeys/options`: PublicKeyCredentialCreationOptionsJSON of WebAuthn
 * level 3, section 5.1.9.
 */
export const CreationOptions = Type.Object(
  {
    rp: Type.Object({ id: Type.String(), name: Type.String() }, strict),
    user: Type.Object({ id: Base64Url(88), name: Type.String(), displayName: Type.String() }, strict),
    challenge: Challenge,
    pubKeyCredParams: Type.Array(
      Type.Object({ type: Type.Literal("public-key"), alg: Type.Integer() }, strict),
    ),
    timeout: Type.Integer(),
    excludeCredentials: Type.Array(CredentialDescriptor),
    authenticatorSelection: Type.Object(
      {
        residentKey: Type.Literal("required"),
        requireResidentKey: Type.Literal(true),
        userVerification: Type.Literal("required"),
      },
      strict,
    ),
    attestation: Type.Literal("none"),
  },
  strict,
);
export type CreationOptions = Static<typeof CreationOptions>;

/**
 * 200 of `POST /api/auth/passkey/options`: PublicKeyCredentialRequestOptionsJSON of section 5.1.10.
 */
export const RequestOptions = Type.Object(
  {
    challenge: Challenge,
    timeout: Type.Integer(),
    rpId: Type.String(),
    userVerification: Type.Literal("required"),
  },
  strict,
);
export type RequestOptions = Static<typeof RequestOptions>;

/** Ignores members that a browser adds to a credential's JSON. */
const open = { additionalProperties: true } as const;

/** The result of `credential.toJSON()` for a new passkey (RegistrationResponseJSON). */
export const RegisteredCredential = Type.Object(
  {
    id: CredentialId,
    rawId: CredentialId,
    type: Type.Literal("public-key"),
    response: Type.Object(
      {
        clientDataJSON: Base64Url(8192),
        attestationObject: Base64Url(32_768),
        transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 8 })),
      },
      open,
    ),
  },
  open,
);
export type RegisteredCredential = Static<typeof RegisteredCredential>;

/** The result of `credential.toJSON()` for a sign-in (AuthenticationResponseJSON). */
export const AssertedCredential = Type.Object(
  {
    id: CredentialId,
    rawId: CredentialId,
    type: Type.Literal("public-key"),
    response: Type.Object(
      {
        clientDataJSON: Base64Url(4096),
        authenticatorData: Base64Url(2048),
        signature: Base64Url(2048),
        userHandle: Type.Optional(Type.Union([Base64Url(88), Type.Null()])),
      },
      open,
    ),
  },
  open,
);
export type AssertedCredential = Static<typeof AssertedCredential>;

/** Body of `POST /api/auth/passkeys`. */
export const AddPasskeyRequest = Type.Object({ name: PasskeyName, credential: RegisteredCredential }, strict);

const RecoveryCodes = Type.Array(Type.String({ examples: ["ABCD-EFGH-JKMN-PQRS"] }), {
  maxItems: RECOVERY_CODES,
});

/**
 * 201 of `POST /api/auth/passkeys`. A person's first passkey comes with recovery codes, which are
 * shown only this once.
 */
export const AddedPasskey = Type.Object(
  { passkey: PasskeyRecord, recovery_codes: Type.Union([RecoveryCodes, Type.Null()]) },
  strict,
);

/** Body of `PATCH /api/auth/passkeys/{passkeyID}`. */
export const RenamePasskeyRequest = Type.Object({ name: PasskeyName }, strict);

/**
 * 201 of `POST /api/auth/recovery-codes`. The codes are shown only this once, and earlier codes
 * stop working.
 */
export const MadeRecoveryCodes = Type.Object({ recovery_codes: RecoveryCodes }, strict);

/** Body of `POST /api/auth/passkey/options`. */
export const PasskeyOptionsRequest = Type.Object({ attempt: GivenAttempt }, strict);

/** Body of `POST /api/auth/passkey/verify`. */
export const PasskeyVerifyRequest = Type.Object(
  { attempt: GivenAttempt, credential: AssertedCredential },
  strict,
);
