import type { Leaf } from "../log/leaf.ts";

/** in-toto's DSSE payload type. */
export const PAYLOAD_TYPE = "application/vnd.in-toto+json";
export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
export const PREDICATE_BACKUP = "https://attestore.dev/backup/v1";
export const PREDICATE_RESTORE_TEST = "https://attestore.dev/restore-test/v1";
export const PREDICATE_EVENT = "https://attestore.dev/event/v1";

/** An in-toto attestation v1 about one backup. */
export type Statement = BackupStatement | RestoreTestStatement;
export type BackupStatement = StatementOf<typeof PREDICATE_BACKUP, BackupPredicate>;
export type RestoreTestStatement = StatementOf<typeof PREDICATE_RESTORE_TEST, RestoreTestPredicate>;

interface StatementOf<Type extends string, Predicate> {
  _type: typeof STATEMENT_TYPE;
  /** The backup: its id, and the hex SHA-256 of its ciphertext. */
  subject: [{ name: string; digest: { sha256: string } }];
  predicateType: Type;
  predicate: Predicate;
}

interface Run {
  org_id: string;
  agent_id: string;
  source_id: string;
  /** The same as the subject's name. */
  backup_id: string;
  /** RFC 3339, UTC, with milliseconds, like all times here. */
  started_at: string;
  finished_at: string;
  agent_version: string;
  /** SHA-256 (hex) of the payload of this agent's previous receipt; null for its first. */
  previous_receipt_sha256: string | null;
}

export interface BackupPredicate extends Run {
  /** Of the ciphertext. */
  size_bytes: number;
  cipher: { name: "age-v1"; recipients: string[] };
  source_metadata: {
    engine: string;
    engine_version: string;
    dump_format: string;
    schema_hash: string;
    [more: string]: unknown;
  };
}

export interface RestoreTestPredicate extends Run {
  runtime: {
    kind: "container" | "process" | "uri";
    engine: string;
    engine_version: string;
    image_digest?: string;
    /** What isolated the restore's programs from the rest of the host; see docs/sandboxes.md. */
    isolation?: "unit" | "namespaces" | "user" | "none";
  };
  result: "passed" | "failed";
  reason?: string;
  phases?: { download_ms: number; decrypt_ms: number; restore_ms: number; checks_ms: number };
  checks: CheckOutcome[];
  /** How the backup was drawn; absent if somebody or something else chose it. */
  draw?: Draw;
  /** What the restored data look like, and what stands out. */
  profile?: Profile;
}

/** Counts and rates of a restored copy, without its values. */
export interface Profile {
  v: 1;
  tables: TableProfile[];
  /** Tables for which there was no time or no room. */
  left_out: number;
  /** What stands out from earlier tests of the source, and that nobody accepted. */
  suspicious: Suspicion[];
  /** Of a tree of files, which has no tables. */
  files?: FilesProfile;
}

/** Counts and rates of a restored tree, without names and contents. */
export interface FilesProfile {
  /** Regular files. */
  files: number;
  /** Those of which there are enough. */
  kinds: FileKindProfile[];
  /**
   * Of 1,000 names, how many end as those of known ransomware do, or in an unknown way after a
   * known ending.
   */
  renamed: number;
  /** Names of known ransom notes. */
  notes: number;
}

export interface FileKindProfile {
  /** By the names' endings: `pictures`, `texts`; or `all`. */
  name: string;
  files: number;
  /** Of 1,000 files, how many begin like none of the kind that their name says. */
  mismatched?: number;
  /** Hundredths of a bit in a byte of a file's start. */
  entropy?: number;
  /** Of 1,000 files, how many look encrypted. */
  random?: number;
}

export interface TableProfile {
  name: string;
  /** About how many it has. */
  rows: number;
  columns: ColumnProfile[];
}

export interface ColumnProfile {
  name: string;
  /** Of 1,000 rows, how many have no value. */
  nulls: number;
  /** Of 1,000 values, how many are different. */
  distinct?: number;
  /** The typical number of bytes of a text. */
  length?: number;
  /** Hundredths of a bit in a character of a text. */
  entropy?: number;
  /** Of 1,000 texts, how many look encrypted. */
  random?: number;
  /** The day before which all but a few times are. */
  newest?: string;
}

export interface Suspicion {
  /** `.` for a tree of files; `*` for all tables. */
  table: string;
  /** Of a tree: a kind of files, or `names`. */
  column: string;
  measure:
    | "nulls"
    | "distinct"
    | "length"
    | "entropy"
    | "random"
    | "newest"
    | "tables"
    | "files"
    | "mismatched"
    | "renamed"
    | "notes";
  now: number | string;
  /** What earlier tests saw; the one closest to normal. */
  before: number | string;
}

/**
 * The draw that chose the backup to test: what the agent declared before, its place in the log, and
 * what decided. Everything here is recomputed by openDraw.
 */
export interface Draw {
  v: 1;
  /** Base64 of the payload that the agent signed: the `draw_declared` event. */
  statement: string;
  /** The event's leaf. */
  leaf: Leaf;
  log_index: number;
  /** From the leaf to the checkpoint of `log_index + 1` leaves, in hex. */
  hashes: string[];
  checkpoint: string;
  /** 32 bytes in hex, to which the declaration is bound. */
  secret: string;
}

export interface CheckOutcome {
  id: string;
  /** Hex digest of the check as the agent's host defines it. */
  definition_sha256: string;
  observed: Record<string, unknown>;
  expectation: string;
  result: "passed" | "failed";
  duration_ms: number;
  /** When this definition was last tried on ruined data. */
  negative_control?: NegativeControl;
}

/**
 * Each text names one way in which the restored copy was ruined, such as `an empty public.orders`.
 */
export interface NegativeControl {
  at: string;
  /** The check failed, as it has to. */
  noticed: string[];
  /** It held although the data were ruined. */
  not_noticed: string[];
  /** Each with its reason. */
  not_tried: string[];
}

/** The kind in a receipt's record, its leaf and its list filter. */
export type ReceiptKind = "backup" | "restore_test";

/** By the statement's predicate type. */
export function receiptKind(statement: Statement): ReceiptKind {
  return statement.predicateType === PREDICATE_BACKUP ? "backup" : "restore_test";
}
