import { Type, type TSchema } from "typebox";
import { firstIdAt, ID_KINDS, idPattern, type IdKind } from "../ids.ts";

/** Example ids of one fixed day, the same in every copy of the documentation. */
const EXAMPLE_IDS = Object.fromEntries(
  ID_KINDS.map((kind) => [kind, firstIdAt(kind, Date.UTC(2026, 10, 21, 8))]),
) as Record<IdKind, string>;

/** The schema of one kind of identifier. */
export const Id = (kind: IdKind) => Type.String({ pattern: idPattern(kind), examples: [EXAMPLE_IDS[kind]] });

/** The schema of a value that may be null. */
export const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** RFC 3339 in UTC with milliseconds and `Z`. The reader checks that the date exists. */
export const Timestamp = Type.String({
  pattern:
    "^(?!0000)\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$",
  examples: ["2026-11-21T08:00:00.000Z"],
});

/** SHA-256 in lower-case hex. */
export const Sha256 = Type.String({
  pattern: "^[0-9a-f]{64}$",
  examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
});

/** A size in bytes, up to S3's largest object, 5 TiB. */
export const SizeBytes = Type.Integer({ minimum: 1, maximum: 5 * 1024 ** 4 });

/** A count or an index within JavaScript's safe integers. */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Text for people: no control characters, no white space at either end. */
export const Label = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: "^[^\\u0000-\\u001f\\u007f\\s]([^\\u0000-\\u001f\\u007f]*[^\\u0000-\\u001f\\u007f\\s])?$",
    examples: ["text"],
  });

/** The short name of a source, unique in its organisation. */
export const Slug = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,62}$", examples: ["orders-db"] });

/** A tag or the environment of a source, e.g. `billing`, `production`. */
export const Tag = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,62}$", examples: ["production"] });

/** Sorted, none twice. */
export const Tags = Type.Array(Tag, { maxItems: 20, uniqueItems: true });

/** The name of an engine, e.g. `postgresql`. */
export const EngineName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,31}$", examples: ["postgresql"] });

/**
 * A public key on the wire: base64 of 32 raw bytes (Ed25519) or of a 91-byte SubjectPublicKeyInfo
 * (ECDSA P-256).
 */
export const PublicKeyWire = Type.String({
  pattern: "^([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{122}==)$",
  examples: ["11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="],
});

/** An object that refuses unknown members. */
export const strict = { additionalProperties: false } as const;
