import { Type } from "typebox";
import { idPattern, type IdKind } from "../ids.ts";

/** The schema of one kind of identifier. */
export const Id = (kind: IdKind) => Type.String({ pattern: idPattern(kind) });

/** RFC 3339 in UTC with milliseconds and `Z`. That the date exists is checked where it is read. */
export const Timestamp = Type.String({
  pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$",
});

/** SHA-256 in lower-case hex. */
export const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** A size in bytes; the upper end is the largest object of S3, 5 TiB. */
export const SizeBytes = Type.Integer({ minimum: 1, maximum: 5 * 1024 ** 4 });

/** A count or an index that JavaScript holds exactly. */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Text for people: no control characters, not blank at the ends. */
export const Label = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: "^[^\\u0000-\\u001f\\u007f\\s]([^\\u0000-\\u001f\\u007f]*[^\\u0000-\\u001f\\u007f\\s])?$",
  });

/** The short name of a source, unique in its organisation. */
export const Slug = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,62}$" });

/** The name of an engine, e.g. `postgresql`. */
export const EngineName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,31}$" });

/** A public key on the wire: base64 of 32 raw bytes (Ed25519) or of a 91-byte SubjectPublicKeyInfo (ECDSA P-256). */
export const PublicKeyWire = Type.String({ pattern: "^([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{122}==)$" });

/** An object that refuses what it does not name. */
export const strict = { additionalProperties: false } as const;
