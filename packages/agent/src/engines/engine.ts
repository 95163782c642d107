import type { Child } from "../processes/child.ts";
import type { IsolationLevel } from "../sandboxes/bounds/confinement.ts";
import type { RunContext } from "../sandboxes/run-context.ts";
import type { SandboxKind } from "../config/sandbox-config.ts";
import type { SourceCommon, SourceConfig } from "../config/source-config.ts";
import type { CheckOutcome } from "@attestore/proof";
import type { QueryOutcome, Seen } from "../checks/index.ts";

/**
 * What a backup says of its source and dump. It is signed into the receipt: names, sizes and
 * counts, never a row and never a secret. JSON throughout.
 */
export interface SourceMetadata {
  readonly engine: string;
  readonly engine_version: string;
  readonly dump_format: string;
  /** SHA-256 in hex of a canonical listing of the schema; see each engine's. */
  readonly schema_hash: string;
  readonly [more: string]: unknown;
}

/** Anything that reached us as JSON and says that it is a backup's metadata. */
export type ForeignMetadata = Readonly<Record<string, unknown>>;

export interface Runtime {
  readonly kind: SandboxKind;
  readonly engine: string;
  readonly engine_version: string;
  /** Of a container: its image. */
  readonly image_digest?: string;
  /**
   * Of what runs as processes of this host: what kept the restore's programs from everything else;
   * see `IsolationLevel`.
   */
  readonly isolation?: IsolationLevel;
}

/** What an engine is told of a source: its own settings, and what every source has. */
export type SourceOf<Settings extends object> = SourceCommon & Settings;

/** For people: `PostgreSQL 15.20`, `pg_dump 15.20`. */
export interface ClientVersions {
  readonly server: string;
  readonly client: string;
  /** What about the server can let damage pass unnoticed into every dump. */
  readonly warning?: { readonly text: string; readonly next: string };
}

/** One database engine, or what is backed up like one. */
export interface Engine<Settings extends object> {
  /** @throws RunError */
  readonly dump: (source: SourceOf<Settings>, context: RunContext) => Promise<Dump>;
  /**
   * The throw-away place that such a backup would be restored in, so far only looked for.
   * @throws RunError `tool_missing`, `tool_too_old`.
   */
  readonly findSandbox: (
    metadata: ForeignMetadata,
    source: SourceOf<Settings>,
    /** Every source of this host, whose own data no restore may touch; at least this one. */
    sources?: readonly SourceConfig[],
  ) => Promise<Sandbox>;
  /**
   * Reaches for the server and finds the program that would dump it; absent where there is no server.
   * @throws RunError, `tool_too_old` among them
   */
  readonly versions?: (source: SourceOf<Settings>, context: RunContext) => Promise<ClientVersions>;
}

/**
 * What tells one database from another: compared as a whole with what is pinned. Signed into
 * receipts; no secret, no path in clear.
 */
export type Identity = Readonly<Record<string, string>>;

/** Which database a dump is of. */
export interface Origin {
  /** Stays the same for as long as it is the same database, wherever it is reached. */
  readonly identity: Identity;
  /**
   * Where it was reached; another one after a failover, so only told. Null where that is this host.
   */
  readonly host: string | null;
}

export interface Dump {
  readonly origin: Origin;
  /**
   * The dump. It throws, instead of ending, if the program that makes it failed: what came before
   * is then no backup. A piece is valid until the next one is asked for.
   */
  readonly content: AsyncIterable<Buffer>;
  /** For progress; null if nobody knows. */
  readonly expectedBytes: number | null;
  /** Once the content has ended. */
  metadata(): Promise<SourceMetadata>;
  /** Stops and removes everything; always called. */
  close(): Promise<void>;
}

export interface Sandbox {
  readonly runtime: Runtime;
  /**
   * Restores a dump. Whatever the content throws passes through; the content is always read to its end before this returns.
   * @throws RestoreRefused if the engine's own restore found the dump wrong; RunError.
   */
  restore(content: AsyncIterable<Buffer>, context: RunContext): Promise<Restored>;
}

/** The restored data, to be looked at and thrown away. */
export interface Restored {
  /**
   * The schema's hash, by the same rule as at backup time; null if the two can't be compared, such as where another major
   * version prints the same schema in another way, or where there is no schema.
   * @throws RunError
   */
  fingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null>;
  /**
   * What a check's query gives, at most two rows of it. A mistake in the query, or something that it misses in the
   * restored data, is an outcome too.
   * @throws RunError if it is the place that failed, not the query.
   */
  query(text: string, limits: QueryLimits): Promise<QueryOutcome>;
  /**
   * Starts a program of the customer's beside it, told by its environment where it is; absent where
   * an engine has no way to.
   */
  readonly startCommand?: StartCommand | undefined;
  /**
   * The tables with rows of their own, the largest first; absent where there are none by nature.
   * @throws RunError
   */
  tables?(signal: AbortSignal): Promise<readonly string[]>;
  /** The checks that need no configuration. Each reads data. @throws RunError */
  inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]>;
  /**
   * Whether the tables hold what the backup's metadata say; no outcome where not one of them could be compared. Absent where an engine has no such digests.
   * @throws RunError
   */
  compareContent?(comparison: ContentComparison): Promise<readonly CheckOutcome[]>;
  /**
   * Ruins what a query reads, in one way after another and each time from the true copy, and asks again. Afterwards the copy is as it was.
   * Absent where an engine has no way to.
   * @throws RunError
   */
  ruin?(query: string, limits: RuinLimits): Promise<readonly Ruined[]>;
  /** Removes it for certain. */
  close(): Promise<void>;
}

export interface RuinLimits extends QueryLimits {
  /** For all ways together. */
  readonly budget_ms: number;
}

export interface Ruined {
  /** Names the way: `an empty public.orders`. */
  readonly how: string;
  /** What the query then gave, or why that is not known. */
  readonly outcome: QueryOutcome | { readonly kind: "not_tried"; readonly reason: string };
}

/**
 * @throws RunError `tool_missing` if there is no such program, `interrupted`.
 */
export type StartCommand = (command: readonly string[], signal: AbortSignal) => Promise<Child>;

export interface QueryLimits {
  readonly timeout_s: number;
  readonly signal: AbortSignal;
}

export interface ContentComparison {
  /** What the backup said of itself. */
  readonly metadata: ForeignMetadata;
  /** The backup's own, under which the content is signed. */
  readonly key: Buffer;
  /** What is not compared by then is named, and not held. */
  readonly budget_ms: number;
  readonly signal: AbortSignal;
}

export interface InferredContext {
  /** What the backup said of itself. */
  readonly metadata: ForeignMetadata;
  /** What restore tests that passed saw; null before the first. */
  readonly seen: Seen | null;
  /**
   * How long counting may take of tables that the backup did not count, and that have no floor; a
   * minute if absent.
   */
  readonly countBudget_s?: number;
  /** Is told the rows of tables that have no check of their own, for which a receipt has no room. */
  readonly onUnnamed?: (table: string, rows: bigint) => void;
  readonly signal: AbortSignal;
}

/** The engine's own restore ran, and says that the dump is wrong. Its message holds no row data. */
export class RestoreRefused extends Error {
  readonly code = "restore_refused";
  constructor(message: string) {
    super(message);
    this.name = "RestoreRefused";
  }
}
