import { Type, type Static } from "typebox";
import { EngineName, Id, Label, Sha256, SizeBytes, strict, Timestamp } from "./scalars.ts";

/**
 * Body of `POST /v1/backups/upload-url`. With the `upload_id` of an earlier answer, it returns
 * fresh URLs for the same parts of that upload. Parts that have arrived need not be sent again.
 */
export const UploadUrlRequest = Type.Object(
  { source_id: Id("source"), sha256: Sha256, size_bytes: SizeBytes, upload_id: Type.Optional(Id("upload")) },
  strict,
);
export type UploadUrlRequest = Static<typeof UploadUrlRequest>;

/** One part of a multipart upload. Parts are numbered from 1 and uploaded with PUT. */
export const UploadPart = Type.Object(
  {
    part_number: Type.Integer({ minimum: 1, maximum: 10000 }),
    upload_url: Type.String(),
    size_bytes: SizeBytes,
  },
  strict,
);
export type UploadPart = Static<typeof UploadPart>;

/**
 * 201 of `POST /v1/backups/upload-url`, or 200 of a renewal. An object above the single-PUT limit
 * has `parts` in place of one PUT.
 */
export const UploadUrl = Type.Object(
  {
    upload_id: Id("upload"),
    object_key: Type.String(),
    upload_url: Type.String(),
    method: Type.Literal("PUT"),
    headers: Type.Record(Type.String(), Type.String()),
    expires_at: Timestamp,
    parts: Type.Optional(Type.Array(UploadPart)),
  },
  strict,
);
export type UploadUrl = Static<typeof UploadUrl>;

/** How the ciphertext was made. Recipients are public keys (age or SSH). */
export const Cipher = Type.Object(
  {
    name: Type.Literal("age-v1"),
    recipients: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { minItems: 1, maxItems: 32 }),
  },
  strict,
);
export type Cipher = Static<typeof Cipher>;

/** What the engine reports about the source and its dump. Engines may add fields. */
export const SourceMetadata = Type.Object(
  { engine: EngineName, engine_version: Label(200), dump_format: Label(64), schema_hash: Sha256 },
  { additionalProperties: true },
);
export type SourceMetadata = Static<typeof SourceMetadata> & { [field: string]: unknown };

/**
 * Body of `POST /v1/backups`. `sha256` and `size_bytes` default to the upload's, and must match it
 * if given.
 */
export const RegisterBackupRequest = Type.Object(
  {
    upload_id: Id("upload"),
    source_id: Id("source"),
    created_at: Timestamp,
    cipher: Cipher,
    source_metadata: SourceMetadata,
    command_id: Type.Optional(Id("command")),
    sha256: Type.Optional(Sha256),
    size_bytes: Type.Optional(SizeBytes),
    parts: Type.Optional(
      Type.Array(
        Type.Object({ part_number: Type.Integer({ minimum: 1, maximum: 10000 }), etag: Label(256) }, strict),
        { minItems: 1, maxItems: 10000 },
      ),
    ),
  },
  strict,
);
export type RegisterBackupRequest = Static<typeof RegisterBackupRequest>;

/** The record of a backup (contract, section 10). */
export const BackupRecord = Type.Object(
  {
    id: Id("backup"),
    created_at: Timestamp,
    org_id: Id("org"),
    source_id: Id("source"),
    agent_id: Id("agent"),
    sha256: Sha256,
    size_bytes: SizeBytes,
    cipher: Cipher,
    source_metadata: SourceMetadata,
    status: Type.Enum(["available", "expired"]),
    /** When the backup last passed a restore test. */
    proven_at: Type.Union([Timestamp, Type.Null()]),
    /**
     * When the backup last failed a restore test, and that test's receipt. Both absent if it never
     * failed.
     */
    failed_at: Type.Optional(Timestamp),
    failed_receipt_id: Type.Optional(Id("receipt")),
    /** When a restore test last found that the restored data stand out. Absent if none did. */
    suspicious_at: Type.Optional(Timestamp),
    /**
     * In lists: the newest backup of its source in whose last restore test nothing stood out, while
     * something does in a newer one.
     */
    last_clean: Type.Optional(Type.Literal(true)),
    /**
     * For an available backup: when it will be removed, if announced. For an expired one: when it
     * expired.
     */
    expires_at: Type.Union([Timestamp, Type.Null()]),
    /** Since when a person keeps it regardless of the retention rules. */
    kept_at: Type.Optional(Timestamp),
  },
  strict,
);
export type BackupRecord = Static<typeof BackupRecord>;

/**
 * What a restore test needs to know about another agent's backup: what was encrypted, and its
 * digest.
 */
export const DownloadedBackup = Type.Object(
  {
    id: Id("backup"),
    source_id: Id("source"),
    sha256: Sha256,
    size_bytes: SizeBytes,
    cipher: Cipher,
    source_metadata: SourceMetadata,
  },
  strict,
);
export type DownloadedBackup = Static<typeof DownloadedBackup>;

/**
 * 200 of `GET /v1/sources/{id}/backups`: the source's backups whose ciphertext is kept, whose
 * receipt is in the log, and whose removal is not announced, oldest first.
 */
export const KeptBackups = Type.Object(
  {
    backup_ids: Type.Array(Id("backup")),
    /** For `cursor` of the next page; null on the last. */
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  },
  strict,
);
export type KeptBackups = Static<typeof KeptBackups>;

/** 200 of a download-url call. `backup` is present if an agent asks. */
export const DownloadUrl = Type.Object(
  { download_url: Type.String(), expires_at: Timestamp, backup: Type.Optional(DownloadedBackup) },
  strict,
);
export type DownloadUrl = Static<typeof DownloadUrl>;
