import { Type, type Static } from "typebox";
import { EngineName, Id, Label, Sha256, SizeBytes, strict, Timestamp } from "./scalars.ts";

/**
 * Body of `POST /v1/backups/upload-url`. With the `upload_id` of an earlier answer, fresh URLs of that upload, with the same parts:
 * parts that are there already need not be sent again.
 */
export const UploadUrlRequest = Type.Object(
  { source_id: Id("source"), sha256: Sha256, size_bytes: SizeBytes, upload_id: Type.Optional(Id("upload")) },
  strict,
);
export type UploadUrlRequest = Static<typeof UploadUrlRequest>;

/** One part of a multipart upload; parts are numbered from 1 and uploaded with PUT. */
export const UploadPart = Type.Object(
  {
    part_number: Type.Integer({ minimum: 1, maximum: 10000 }),
    upload_url: Type.String(),
    size_bytes: SizeBytes,
  },
  strict,
);
export type UploadPart = Static<typeof UploadPart>;

/** 201 of `POST /v1/backups/upload-url`, 200 of one that renews; `parts` in place of one PUT when the object is over the single-PUT limit. */
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

/** How the ciphertext was made; recipients are public (age or SSH recipients). */
export const Cipher = Type.Object(
  {
    name: Type.Literal("age-v1"),
    recipients: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { minItems: 1, maxItems: 32 }),
  },
  strict,
);
export type Cipher = Static<typeof Cipher>;

/** What the engine said of the source and its dump; engines add fields of their own. */
export const SourceMetadata = Type.Object(
  { engine: EngineName, engine_version: Label(200), dump_format: Label(64), schema_hash: Sha256 },
  { additionalProperties: true },
);
export type SourceMetadata = Static<typeof SourceMetadata> & { [field: string]: unknown };

/** Body of `POST /v1/backups`. `sha256` and `size_bytes` are the upload's; given, they have to agree with it. */
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
    /** When it last passed a restore test. */
    proven_at: Type.Union([Timestamp, Type.Null()]),
    /** When it last failed one, and the receipt that says so; of one that never did, there is neither. */
    failed_at: Type.Optional(Timestamp),
    failed_receipt_id: Type.Optional(Id("receipt")),
    /** Of an available one when it is announced to be removed, of an expired one when it expired. */
    expires_at: Type.Union([Timestamp, Type.Null()]),
    /** Since when somebody keeps it, whatever the retention rules say. */
    kept_at: Type.Optional(Timestamp),
  },
  strict,
);
export type BackupRecord = Static<typeof BackupRecord>;

/** What a restore test has to know of a backup that another agent made: what was encrypted, and its digest. */
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

/** 200 of a download-url call; `backup` where an agent asks. */
export const DownloadUrl = Type.Object(
  { download_url: Type.String(), expires_at: Timestamp, backup: Type.Optional(DownloadedBackup) },
  strict,
);
export type DownloadUrl = Static<typeof DownloadUrl>;
