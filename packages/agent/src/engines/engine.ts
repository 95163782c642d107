import type { Child } from "../processes/child.ts";
import type { IsolationLevel } from "../sandboxes/bounds/confinement.ts";
import type { RunContext } from "../sandboxes/run-context.ts";
import type { SandboxKind } from "../config/sandbox-config.ts";
import type { SourceCommon, SourceConfig } from "../config/source-config.ts";
import type { CheckOutcome, Profile } from "@attestore/proof";
import type { Proposals, QueryOutcome, EarlierTests } from "../checks/index.ts";
import type { Measurables } from "./measurable.ts";

/**
 * What a backup says about its source and its dump, as JSON. It is signed into the receipt. It
 * contains names, sizes and counts, but never a row or a secret.
 */
export interface SourceMetadata {
  readonly engine: string;
  readonly engine_version: string;
  readonly dump_format: string;
  /** SHA-256 in hex of a canonical listing of the schema. Each engine has its own listing. */
  readonly schema_hash: string;
  readonly [more: string]: unknown;
}

/** JSON that we received and that claims to be a backup's metadata. */
export type ForeignMetadata = Readonly<Record<string, unknown>>;

export interface Runtime {
  readonly kind: SandboxKind;
  readonly engine: string;
  readonly engine_version: string;
  /** The image of a container. */
  readonly image_digest?: string;
  /**
   * For programs that run as processes of this host: how they were isolated; see `IsolationLevel`.
   */
  readonly isolation?: IsolationLevel;
}

/** A source's own settings, and what every source has. */
export type SourceOf<Settings extends object> = SourceCommon & Settings;

/** Texts for people, such as `PostgreSQL 15.20` and `pg_dump 15.20`. */
export interface ClientVersions {
  readonly server: string;
  readonly client: string;
  /** A setting of the server that lets damage pass unnoticed into every dump. */
  readonly warning?: { readonly text: string; readonly next: string };
}

/**
 * What was found when the source itself was looked at. It is signed in the backup's metadata, and
 * has names and counts only.
 */
export interface SourceCheck {
  readonly by: string;
  readonly indexes: number;
  readonly tables: number;
  /** Indexes and tables that are damaged. */
  readonly damaged: number;
  readonly damaged_names: readonly string[];
  /** Content that was not looked at, or not to its end. */
  readonly not_checked: number;
  /** Each with the reason. */
  readonly not_checked_names: readonly string[];
  readonly seconds: number;
}

/** A database engine, or something else that is backed up like one. */
export interface Engine<Settings extends object> {
  /** @throws RunError */
  readonly dump: (source: SourceOf<Settings>, context: RunContext) => Promise<Dump>;
  /**
   * Finds the throw-away place for restoring such a backup, but does not open it yet.
   * @throws RunError `tool_missing`, `tool_too_old`.
   */
  readonly findSandbox: (
    metadata: ForeignMetadata,
    source: SourceOf<Settings>,
    /** All sources of this host, at least this one. A restore must never touch their data. */
    sources?: readonly SourceConfig[],
  ) => Promise<Sandbox>;
  /**
   * Looks at the source, read-only and for a short time, and proposes checks that were tried on
   * ruined data. Absent if an engine has none to propose.
   * @throws RunError
   */
  readonly propose?: (source: SourceOf<Settings>, context: RunContext) => Promise<Proposals>;
  /**
   * The tables of a source and their columns, for checks that measure them. Only reads. Absent for
   * engines without tables.
   * @throws RunError
   */
  readonly columns?: (source: SourceOf<Settings>, context: RunContext) => Promise<Measurables>;
  /**
   * Looks at the source itself for damage, if its configuration asks for that; null if not. It only
   * reads, and a failure to look is not an error. Absent if an engine cannot.
   */
  readonly checkSource?: (source: SourceOf<Settings>, context: RunContext) => Promise<SourceCheck | null>;
  /**
   * Connects to the server, and finds the program that would dump it. Absent if the engine has no
   * server.
   * @throws RunError, also `tool_too_old`
   */
  readonly versions?: (source: SourceOf<Settings>, context: RunContext) => Promise<ClientVersions>;
  /**
   * What the source may have that its server hid from the backup's user, for people, by what the
   * backup says about itself. Absent if a server of the engine hides nothing without an error.
   */
  readonly hidden?: (metadata: ForeignMetadata) => readonly string[];
}

/**
 * Identifies a database. It is compared as a whole with the pinned identity. It is signed into
 * receipts, so it has no secret and no plain path.
 */
export type Identity = Readonly<Record<string, string>>;

/** The database that a dump came from. */
export interface Origin {
  /** Stays the same for the same database, wherever the agent reaches it. */
  readonly identity: Identity;
  /**
   * The host where the agent reached it, or null for this host. A failover changes it, so a change
   * is only reported.
   */
  readonly host: string | null;
}

export interface Dump {
  readonly origin: Origin;
  /**
   * The content of the dump. If the dump program fails, iterating throws instead of ending, and the
   * part before is not a backup. A piece is valid only until the next one is requested.
   */
  readonly content: AsyncIterable<Buffer>;
  /** For showing progress; null if unknown. */
  readonly expectedBytes: number | null;
  /** Call this after the content has ended. */
  metadata(): Promise<SourceMetadata>;
  /** Stops everything and removes all files. Callers must always call it. */
  close(): Promise<void>;
}

export interface Sandbox {
  readonly runtime: Runtime;
  /**
   * Restores a dump. Errors from the content pass through. It always reads the content to its end.
   * @throws RestoreRefused if the engine's own restore rejects the dump; RunError.
   */
  restore(content: AsyncIterable<Buffer>, context: RunContext): Promise<Restored>;
}

/** The restored copy. The checks look at it, and then it is thrown away. */
export interface Restored {
  /**
   * Hashes the schema by the same rule as at backup time. Null if the hashes can't be compared, for
   * example because another major version prints the schema differently, or if there is no schema.
   * @throws RunError
   */
  fingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null>;
  /**
   * The same for `exact_schema_hash`, which a backup has if `schema_hash` leaves something out of
   * definitions. Absent for engines whose `schema_hash` is exact.
   * @throws RunError
   */
  exactFingerprint?(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null>;
  /**
   * Runs a check's query and returns at most two rows. An error in the query, and something missing
   * in the restored data, are outcomes too.
   * @throws RunError if the place failed, not the query.
   */
  query(text: string, limits: QueryLimits): Promise<QueryOutcome>;
  /**
   * Starts one of the customer's programs next to the copy. Environment variables tell the program
   * where the copy is. Absent if an engine can't do this.
   */
  readonly startCommand?: StartCommand | undefined;
  /**
   * Lists the tables that have rows of their own, the largest first. Absent for engines without
   * tables.
   * @throws RunError
   */
  tables?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * How many indexes, constraints, triggers and so on there are, by the engine's names of kinds. A
   * kind that it does not have has none, but without `GRANT_KIND` the grants are unknown. Absent if
   * an engine can't list them.
   * @throws RunError
   */
  objectKinds?(signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /**
   * Runs the checks that need no configuration. Each of them reads data.
   * @throws RunError
   */
  inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]>;
  /**
   * Compares the content of the tables with the backup's metadata. Returns no outcome if it could
   * compare no table. Absent for engines without content digests.
   * @throws RunError
   */
  compareContent?(comparison: ContentComparison): Promise<readonly CheckOutcome[]>;
  /**
   * Looks for rows that break a constraint of the copy. Runs only if another check read data, after
   * `compareContent` began. What is not looked at within the time is named. Absent for engines that
   * do it in `inferredChecks`, or not at all.
   * @throws RunError
   */
  checkConstraints?(limits: IntegrityLimits): Promise<FinishAlone>;
  /**
   * Looks whether the copy's indexes fit its tables, under the same rules. Absent for engines that
   * can't do this.
   * @throws RunError
   */
  checkIndexes?(limits: IntegrityLimits): Promise<FinishAlone>;
  /**
   * Counts and rates of the tables' columns, or of a tree's files, without their values. Absent if
   * an engine can't do this.
   * @throws RunError
   */
  profile?(profiling: Profiling): Promise<FoundProfile>;
  /**
   * Ruins the data that a query reads, in one way after another, and asks again each time. Every
   * way starts from the true copy, and afterwards the copy is unchanged. Absent if an engine can't
   * do this.
   * @throws RunError
   */
  ruin?(query: string, limits: RuinLimits): Promise<readonly Ruined[]>;
  /** Removes the copy. Callers must always call it. */
  close(): Promise<void>;
}

/** A profile before it is compared with earlier ones. */
export type FoundProfile = Pick<Profile, "tables" | "left_out" | "files">;

export interface IntegrityLimits {
  /** For what runs no code of the dump: others use the copy meanwhile. */
  readonly beside_ms: number;
  /** For the rest. */
  readonly alone_ms: number;
  readonly signal: AbortSignal;
}

/**
 * Does what may run code of the dump, and could end the sessions of others: nobody else may use the
 * copy meanwhile. Must be called once.
 * @throws RunError
 */
export type FinishAlone = (signal: AbortSignal) => Promise<readonly CheckOutcome[]>;

export interface RuinLimits extends QueryLimits {
  /** For all ways together. */
  readonly budget_ms: number;
}

export interface Ruined {
  /** Describes the way: `an empty public.orders`. */
  readonly how: string;
  /**
   * The columns of the row that this may change. A check that names none of them is not about it.
   * Absent if the query itself says what it is about.
   */
  readonly columns?: readonly string[];
  /** The query's result on the ruined data, or why it is unknown. */
  readonly outcome: QueryOutcome | { readonly kind: "not_tried"; readonly reason: string };
}

/** @throws RunError `tool_missing` if the program does not exist, `interrupted`. */
export type StartCommand = (command: readonly string[], signal: AbortSignal) => Promise<Child>;

export interface QueryLimits {
  readonly timeout_s: number;
  readonly signal: AbortSignal;
}

export interface ContentComparison {
  /** What the backup says about itself. */
  readonly metadata: ForeignMetadata;
  /** The key of this backup, under which its content is signed. */
  readonly key: Buffer;
  /** What is not compared by then is named and does not count as held. */
  readonly budget_ms: number;
  readonly signal: AbortSignal;
}

export interface Profiling {
  /** Decides which rows of a large table are read. */
  readonly key: Buffer;
  readonly budget_ms: number;
  readonly signal: AbortSignal;
}

export interface InferredContext {
  /** What the backup says about itself. */
  readonly metadata: ForeignMetadata;
  /** What passed restore tests saw; null before the first one. */
  readonly seen: EarlierTests | null;
  /**
   * Seconds for counting the tables that the backup did not count and that have no floor; 60 if
   * absent.
   */
  readonly countBudget_s?: number;
  /**
   * Called with the row counts of tables that have no check of their own, because a receipt has no
   * room for them.
   */
  readonly onUnnamed?: (table: string, rows: bigint) => void;
  readonly signal: AbortSignal;
}

/** The engine's own restore ran and rejected the dump. The message contains no row data. */
export class RestoreRefused extends Error {
  readonly code = "restore_refused";
  constructor(message: string) {
    super(message);
    this.name = "RestoreRefused";
  }
}
