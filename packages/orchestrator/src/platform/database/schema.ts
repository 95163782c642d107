import type {
  AgentEncryption,
  AgentSpool,
  CommandProgress,
  ConfigAnswer,
  ConfigRequest,
  Objectives,
  Retention,
  RetentionHold,
  RotateAgentKeyRequest,
  Schedule,
} from "@attestore/contract";
import type { ColumnType, Generated, JSONColumnType, Kysely, Transaction } from "kysely";

/**
 * Row types of migrations/, one interface for each table. These are the driver's values, with the
 * type parsers of this folder: timestamptz a Date, bytea a Buffer, int8 a number (every count here
 * stays below 2^53), jsonb the parsed value.
 */
export interface Schema {
  service_settings: ServiceSettingsTable;
  orgs: OrgsTable;
  users: UsersTable;
  sessions: SessionsTable;
  auditor_links: AuditorLinksTable;
  one_time_codes: OneTimeCodesTable;
  passkey_owners: PasskeyOwnersTable;
  passkeys: PasskeysTable;
  recovery_codes: RecoveryCodesTable;
  passkey_challenges: PasskeyChallengesTable;
  mail_outbox: MailOutboxTable;
  agents: AgentsTable;
  agent_retired_keys: AgentRetiredKeysTable;
  agent_witnesses: AgentWitnessesTable;
  auth_keys: AuthKeysTable;
  bootstraps: BootstrapsTable;
  sources: SourcesTable;
  uploads: UploadsTable;
  org_quotas: OrgQuotasTable;
  org_usage: OrgUsageTable;
  commands: CommandsTable;
  config_requests: ConfigRequestsTable;
  backups: BackupsTable;
  logs: LogsTable;
  log_leaves: LogLeavesTable;
  log_tiles: LogTilesTable;
  log_heads: LogHeadsTable;
  log_emissions: LogEmissionsTable;
  log_generations: LogGenerationsTable;
  log_lost_heads: LogLostHeadsTable;
  receipts: ReceiptsTable;
  archive_files: ArchiveFilesTable;
  events: EventsTable;
  idempotency_keys: IdempotencyKeysTable;
  api_logs: ApiLogsTable;
  rate_limits: RateLimitsTable;
  scheduled_runs: ScheduledRunsTable;
  incidents: IncidentsTable;
  jobs: JobsTable;
  source_days: SourceDaysTable;
  notification_channels: NotificationChannelsTable;
  notification_cursors: NotificationCursorsTable;
  notification_incidents: NotificationIncidentsTable;
  notifications: NotificationsTable;
  notification_deliveries: NotificationDeliveriesTable;
  notification_attempts: NotificationAttemptsTable;
}

/** The pool or a transaction: for a store's reading functions. */
export type Database = Kysely<Schema>;
/** For a store's writing functions, so that nobody writes outside a transaction by mistake. */
export type DatabaseTransaction = Transaction<Schema>;

/**
 * jsonb that is written as text, because the driver would turn an array into a PostgreSQL array.
 */
type Json<T extends object> = JSONColumnType<T>;
type NullableJson<T extends object> = ColumnType<T | null, string | null | undefined, string | null>;
type Defaulted<T extends object> = JSONColumnType<T, string | undefined>;
type Timestamp = ColumnType<Date, Date, Date>;
type DefaultedTimestamp = ColumnType<Date, Date | undefined, Date>;
type NullableTimestamp = ColumnType<Date | null, Date | null | undefined, Date | null>;
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface ServiceSettingsTable {
  name: string;
  value: ColumnType<unknown, string, string>;
}

export interface OrgsTable {
  id: string;
  name: string;
  slug: string;
  public_log: Generated<boolean>;
  created_at: DefaultedTimestamp;
}

export interface UsersTable {
  id: string;
  org_id: Nullable<string>;
  email: string;
  name: Nullable<string>;
  role: "owner" | "admin" | "auditor" | "operator";
  /** `pending` until an invitation is accepted. */
  status: Generated<"active" | "pending">;
  created_at: DefaultedTimestamp;
  removed_at: NullableTimestamp;
}

export interface SessionsTable {
  token_sha256: Buffer;
  /** Null if an auditor link was opened. */
  user_id: Nullable<string>;
  auditor_link_id: Nullable<string>;
  created_at: DefaultedTimestamp;
  last_used_at: DefaultedTimestamp;
  /** The absolute end; the idle one follows from last_used_at. */
  expires_at: Timestamp;
  ended_at: NullableTimestamp;
  /** Either all three of an impersonation are set, or none. */
  operator_id: Nullable<string>;
  operator_session: Nullable<Buffer>;
  reason: Nullable<string>;
  /** The session that somebody signed in with, if this one replaces it. */
  continues: Nullable<Buffer>;
  /** For an impersonation, when and how the operator signed in. */
  signed_in_at: DefaultedTimestamp;
  signed_in_with: SignInMethod;
}

export type SignInMethod = "email_code" | "recovery_code" | "passkey" | "auditor_link";

export interface AuditorLinksTable {
  id: string;
  org_id: string;
  secret_sha256: Buffer;
  name: string;
  period_from: Timestamp;
  period_to: Timestamp;
  created_by: string;
  created_at: Timestamp;
  expires_at: Timestamp;
  openings: Generated<number>;
  last_opened_at: NullableTimestamp;
  revoked_at: NullableTimestamp;
}

export interface OneTimeCodesTable {
  purpose: "signup" | "login";
  email: string;
  attempt_sha256: Buffer;
  by_network: boolean;
  code_sha256: Buffer;
  org_name: Nullable<string>;
  wrong_tries: Generated<number>;
  created_at: DefaultedTimestamp;
  expires_at: Timestamp;
  used_at: NullableTimestamp;
}

/** A person, by address in lower case. */
export interface PasskeyOwnersTable {
  email: string;
  handle: Buffer;
  created_at: DefaultedTimestamp;
}

export interface PasskeysTable {
  id: string;
  email: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
  transports: string[];
  synced: boolean;
  name: string;
  created_at: DefaultedTimestamp;
  last_used_at: NullableTimestamp;
}

export interface RecoveryCodesTable {
  email: string;
  code_sha256: Buffer;
  used_at: NullableTimestamp;
}

export interface PasskeyChallengesTable {
  purpose: "register" | "sign_in";
  bound_sha256: Buffer;
  challenge: string;
  expires_at: Timestamp;
}

export interface MailOutboxTable {
  id: Generated<number>;
  sealed: Buffer;
  attempts: Generated<number>;
  next_attempt_at: DefaultedTimestamp;
  expires_at: Timestamp;
  created_at: DefaultedTimestamp;
}

export interface AgentsTable {
  id: string;
  org_id: string;
  name: string;
  hostname: string;
  platform: string;
  agent_version: string;
  /** 32 raw bytes (Ed25519) or 91 bytes of SubjectPublicKeyInfo (ECDSA P-256). */
  public_key: Buffer;
  key_fingerprint: string;
  token_sha256: Buffer;
  status: Generated<"active" | "revoked">;
  created_at: DefaultedTimestamp;
  last_seen_at: NullableTimestamp;
  revoked_at: NullableTimestamp;
  spool: NullableJson<AgentSpool>;
  encryption: NullableJson<AgentEncryption>;
  remote_config: Generated<boolean>;
}

export interface AgentRetiredKeysTable {
  org_id: string;
  agent_id: string;
  key_fingerprint: string;
  public_key: Buffer;
  valid_from: Timestamp;
  /** By the agent's clock. */
  replaced_at: Timestamp;
  /** By the service's clock. */
  retired_at: Timestamp;
  rotation: Json<RotateAgentKeyRequest>;
}

export interface AgentWitnessesTable {
  agent_id: string;
  tree_size: number;
  checkpoint: string;
  cosignature: Nullable<string>;
  received_at: Timestamp;
}

export interface AuthKeysTable {
  id: string;
  org_id: string;
  public_id: string;
  secret_sha256: Buffer;
  name: Nullable<string>;
  created_by: string;
  created_at: DefaultedTimestamp;
  expires_at: Timestamp;
  last_used_at: NullableTimestamp;
  max_uses: Nullable<number>;
  uses: Generated<number>;
  wrong_attempts: Generated<number>;
  revoked_at: NullableTimestamp;
}

export interface BootstrapsTable {
  id: string;
  code_sha256: Buffer;
  poll_token_sha256: Buffer;
  name: string;
  hostname: string;
  platform: string;
  agent_version: string;
  public_key: Buffer;
  address: string;
  status: Generated<"pending" | "approved" | "denied">;
  created_at: DefaultedTimestamp;
  expires_at: Timestamp;
  decided_at: NullableTimestamp;
  decided_by: Nullable<string>;
  org_id: Nullable<string>;
  agent_id: Nullable<string>;
  sealed_token: Nullable<Buffer>;
}

/** The labels that a source's agent declares for people. */
export interface SourceLabels {
  tags?: string[];
  environment?: string;
}

export interface SourcesTable {
  id: string;
  org_id: string;
  slug: string;
  name: string;
  engine: string;
  agent_id: string;
  test_agent_id: Nullable<string>;
  schedule: NullableJson<Schedule>;
  retention: NullableJson<Retention>;
  objectives: NullableJson<Objectives>;
  labels: Defaulted<SourceLabels>;
  last_backup_at: NullableTimestamp;
  last_proven_at: NullableTimestamp;
  next_backup_at: NullableTimestamp;
  next_restore_test_at: NullableTimestamp;
  created_at: DefaultedTimestamp;
  removed_at: NullableTimestamp;
  /**
   * Since when a sudden change of its backups has stopped its retention, and the change that was
   * seen.
   */
  retention_held_at: NullableTimestamp;
  retention_hold: NullableJson<RetentionHold>;
  /** Until when its backups were accepted, and how large the newest were then. */
  retention_accepted_at: NullableTimestamp;
  retention_accepted_bytes: Nullable<number>;
}

export interface UploadsTable {
  id: string;
  org_id: string;
  source_id: string;
  agent_id: string;
  object_key: string;
  sha256: Buffer;
  size_bytes: number;
  multipart: NullableJson<object>;
  created_at: DefaultedTimestamp;
  expires_at: Timestamp;
  /** Set by a trigger of `backups`. */
  registered_at: ColumnType<Date | null, never, never>;
}

/** Kept up to date by triggers of `uploads` and `backups`. */
export interface OrgUsageTable {
  org_id: string;
  bytes: Generated<number>;
  objects: Generated<number>;
}

/** Null: the service's own limit; -1: none. */
export interface OrgQuotasTable {
  org_id: string;
  bytes: number | null;
  objects: number | null;
  agents: number | null;
  requests: number | null;
  warned: Defaulted<{ bytes?: number; objects?: number; agents?: number }>;
}

export interface CommandsTable {
  id: string;
  org_id: string;
  source_id: string;
  agent_id: string;
  kind: "backup" | "restore_test";
  params: Defaulted<{ backup_id?: string }>;
  status: Generated<"queued" | "delivered" | "acked">;
  attempts: Generated<number>;
  issued_by: string;
  created_at: DefaultedTimestamp;
  delivered_at: NullableTimestamp;
  acked_at: NullableTimestamp;
  ended_at: NullableTimestamp;
  progress: NullableJson<CommandProgress>;
  outcome: Defaulted<{ backup_id?: string; receipt_id?: string; event_id?: string }>;
}

export interface ConfigRequestsTable {
  id: string;
  org_id: string;
  agent_id: string;
  asked_by: string;
  request: ColumnType<ConfigRequest, string, never>;
  status: Generated<"queued" | "delivered" | "answered">;
  created_at: Date;
  expires_at: Date;
  delivered_at: NullableTimestamp;
  answered_at: NullableTimestamp;
  answer: NullableJson<ConfigAnswer>;
}

export interface BackupsTable {
  id: string;
  org_id: string;
  source_id: string;
  agent_id: string;
  upload_id: string;
  object_key: string;
  sha256: Buffer;
  size_bytes: number;
  cipher: Json<{ name: "age-v1"; recipients: string[] }>;
  source_metadata: Json<{ engine: string; engine_version: string; dump_format: string; schema_hash: string }>;
  /** How the schema's summary differed from that of the backup before, when it was registered. */
  schema_changes: NullableJson<{ added: string[]; removed: string[]; altered: string[] }>;
  command_id: Nullable<string>;
  status: Generated<"available" | "expired">;
  made_at: Timestamp;
  proven_at: NullableTimestamp;
  failed_at: NullableTimestamp;
  failed_receipt_id: Nullable<string>;
  /** When a restore test last found that its data stand out. */
  suspicious_at: NullableTimestamp;
  /** For an available one when it will go, for an expired one when it went. */
  expires_at: NullableTimestamp;
  removal_told_at: NullableTimestamp;
  kept_at: NullableTimestamp;
  kept_by: Nullable<string>;
  /** When the object of an expired backup will be removed, or tried again. */
  removal_due_at: NullableTimestamp;
  object_removed_at: NullableTimestamp;
  created_at: DefaultedTimestamp;
  /** More than an hour after it was made. */
  registered_late: ColumnType<boolean, never, never>;
}

export interface LogsTable {
  org_id: string;
  origin: string;
  tree_size: Generated<number>;
  root_hash: Buffer;
  right_edge: Generated<Buffer>;
  /** A head that was signed and that this database does not have; then nothing is appended. */
  missing_head_size: Generated<number | null>;
  missing_head_root: Generated<Buffer | null>;
  /** Of which generation it is; null for the present one. */
  missing_head_origin: Generated<string | null>;
  /** Nothing is appended before this time. */
  held_until: Generated<Date | null>;
  /** When its newest entry was recorded. */
  newest_at: Generated<Date | null>;
}

export interface LogGenerationsTable {
  org_id: string;
  /** From 2. */
  generation: number;
  origin: string;
  /** The origin of the generation before, and the entries that were left of it. */
  ended: string;
  tree_size: number;
  root_hash: Buffer;
  /** Its `log_rolled_back`, which is the entry after those. */
  event_id: string;
}

export interface LogLostHeadsTable {
  org_id: string;
  origin: string;
  tree_size: number;
  root_hash: Buffer;
  /** The event that names it. */
  event_id: string;
}

export interface LogLeavesTable {
  org_id: string;
  log_index: number;
  leaf_hash: Buffer;
  leaf: Buffer;
}

export interface LogTilesTable {
  org_id: string;
  level: number;
  tile_index: number;
  root_hash: Buffer;
  hashes: Buffer;
}

export interface LogHeadsTable {
  org_id: string;
  tree_size: number;
  root_hash: Buffer;
  recorded_at: Timestamp;
}

export interface LogEmissionsTable {
  org_id: string;
  hour: Timestamp;
  emitted_at: Timestamp;
  tree_size: number;
  root_hash: Buffer;
  checkpoint: string;
}

export interface ReceiptsTable {
  id: string;
  org_id: string;
  kind: "backup" | "restore_test";
  source_id: string;
  agent_id: string;
  backup_id: string;
  result: Nullable<"passed" | "failed">;
  envelope_sha256: Buffer;
  payload_sha256: Buffer;
  previous_receipt_sha256: Nullable<Buffer>;
  /** Null if it is in the archive. */
  envelope: Nullable<Buffer>;
  log_index: number;
  leaf_hash: Buffer;
  created_at: Timestamp;
  /** When the run ended by the agent's account, but never later than created_at. */
  happened_at: Timestamp;
  archived_in: Nullable<Buffer>;
  archived_start: Nullable<number>;
  archived_length: Nullable<number>;
}

/** Written by functions only (migration 0076). */
export interface ArchiveFilesTable {
  org_id: string;
  file_index: number;
  sha256: Buffer;
  size_bytes: number;
  archived_at: Timestamp;
}

export interface EventsTable {
  id: string;
  org_id: string;
  kind: string;
  source_id: Nullable<string>;
  backup_id: Nullable<string>;
  command_id: Nullable<string>;
  actor_id: string;
  occurred_at: Timestamp;
  body: Buffer;
  log_index: number;
  leaf_hash: Buffer;
  created_at: Timestamp;
  envelope: Nullable<Buffer>;
  envelope_sha256: Nullable<Buffer>;
  payload_sha256: Nullable<Buffer>;
  previous_receipt_sha256: Nullable<Buffer>;
}

export interface IdempotencyKeysTable {
  scope_sha256: Buffer;
  fingerprint: Buffer;
  status: number;
  /** Null if the answer is an entry of the log: then it follows from log_index and tree_size. */
  body: Nullable<Buffer>;
  log_index: Nullable<number>;
  tree_size: Nullable<number>;
  sealed: Generated<boolean>;
  created_at: Timestamp;
  expires_at: Timestamp;
}

export interface ApiLogsTable {
  id: string;
  org_id: Nullable<string>;
  actor_kind: "agent" | "user" | "operator" | "auditor_link" | "auth_key" | "anonymous" | "console";
  actor_id: Nullable<string>;
  impersonator_id: Nullable<string>;
  method: string;
  route: string;
  path: string;
  status: number;
  duration_ms: number;
  address: string;
  user_agent: Nullable<string>;
  request_id: string;
  idempotency_key: Nullable<string>;
  created_at: Timestamp;
}

export interface RateLimitsTable {
  bucket: string;
  window_start: Timestamp;
  hits: number;
}

export interface ScheduledRunsTable {
  source_id: string;
  kind: "backup" | "restore_test";
  scheduled_at: Timestamp;
  org_id: string;
  deadline_at: Timestamp;
  command_id: Nullable<string>;
  status: Generated<"waiting" | "done" | "missed" | "withdrawn">;
  decided_at: NullableTimestamp;
}

export interface IncidentsTable {
  /** The event that records it. */
  id: string;
  org_id: string;
  kind: "backup_missed" | "restore_test_missed" | "agent_silent";
  source_id: Nullable<string>;
  agent_id: Nullable<string>;
  began_at: Timestamp;
  ended_at: NullableTimestamp;
}

export interface JobsTable {
  name: string;
  started_at: Timestamp;
  finished_at: NullableTimestamp;
  running_since: Timestamp;
}

export interface NotificationChannelsTable {
  id: string;
  org_id: string;
  kind: "email" | "webhook";
  name: Nullable<string>;
  user_id: Nullable<string>;
  url: Nullable<string>;
  sealed_secret: Nullable<Buffer>;
  former_sealed_secret: Nullable<Buffer>;
  former_secret_until: NullableTimestamp;
  types: Nullable<string[]>;
  weekly_evidence: Generated<boolean>;
  disabled_at: NullableTimestamp;
  disabled_reason: Nullable<"by_user" | "receiver_gone" | "user_removed">;
  last_delivered_at: NullableTimestamp;
  last_failed_at: NullableTimestamp;
  created_by: string;
  created_at: DefaultedTimestamp;
  removed_at: NullableTimestamp;
}

export interface NotificationCursorsTable {
  org_id: string;
  log_index: number;
}

export interface NotificationIncidentsTable {
  /** The event or receipt that began it. */
  id: string;
  org_id: string;
  kind:
    | "backup_failed"
    | "backup_missed"
    | "restore_test_failed"
    | "restore_test_could_not_run"
    | "restore_test_missed"
    | "agent_silent"
    | "attestation_failed";
  source_id: Nullable<string>;
  agent_id: Nullable<string>;
  began_at: Timestamp;
  ended_at: NullableTimestamp;
}

export interface NotificationsTable {
  id: string;
  org_id: string;
  key: string;
  type: string;
  occurred_at: Timestamp;
  data: Json<Record<string, unknown>>;
  created_at: DefaultedTimestamp;
}

export interface NotificationDeliveriesTable {
  id: string;
  org_id: string;
  notification_id: string;
  channel_id: string;
  status: Generated<"pending" | "delivered" | "failed" | "cancelled">;
  attempts: Generated<number>;
  attempts_before: Generated<number>;
  next_attempt_at: NullableTimestamp;
  leased_until: NullableTimestamp;
  finished_at: NullableTimestamp;
  created_at: DefaultedTimestamp;
}

export interface NotificationAttemptsTable {
  delivery_id: string;
  attempt: number;
  org_id: string;
  at: Timestamp;
  duration_ms: number;
  outcome: string;
  http_status: Nullable<number>;
  message: string;
}

export interface SourceDaysTable {
  org_id: string;
  source_id: string;
  /** A date comes as text, `2026-11-21`. */
  day: string;
  backups: Generated<number>;
  passed: Generated<number>;
  failed: Generated<number>;
  size_bytes: Nullable<number>;
  schema_digest: Nullable<string>;
  environment_digest: Nullable<string>;
  objects_digest: Nullable<string>;
  definitions_digest: Nullable<string>;
  schema_changed: Generated<boolean>;
  environment_changed: Generated<boolean>;
  restore_ms: Nullable<number>;
  own_checks: Nullable<number>;
}
