import type { ErrorCode } from "@attestore/contract";
import type { Static, TSchema } from "@fastify/type-provider-typebox";
import type { Logger } from "../../logging/logger.ts";
import type { DatabaseTransaction } from "../../database/schema.ts";
import type { Answer, WireAnswer } from "./answer.ts";
import type { ApiLogRow } from "../api-log/api-log-row.ts";
import type { FileAnswer } from "./file-answer.ts";
import type { Period, CredentialKind, PrincipalOf } from "./principal.ts";
import type { RateLimitName } from "./rate-limits.ts";
import type { Action } from "./policy.ts";

/** A call after authentication, authorisation, rate limit and validation. */
export interface Call<
  Kind extends CredentialKind = CredentialKind,
  Body = unknown,
  Query = unknown,
  Params = unknown,
> {
  requestId: string;
  principal: PrincipalOf<Kind>;
  /**
   * The organisation that the call is about: the one in the path, or the caller's own. Null for
   * operators' calls about none.
   */
  orgId: string | null;
  /** The period whose records the caller sees: no limit except for auditor links. */
  within: Period;
  /** Client address without the port. */
  address: string;
  body: Body;
  /** The body's bytes as received; empty if there was none. */
  rawBody: Buffer;
  query: Query;
  params: Params;
  /** A header of the request, by its name in lower case; absent if it came more than once. */
  header: (name: string) => string | undefined;
  logger: Logger;
  /** Aborted when the client is gone or the service shuts down. */
  signal: AbortSignal;
  /**
   * Counts the call against a limit per e-mail address, which only the body has: for `prepare`,
   * before anything else, or for `count` with its transaction. Throws `rate_limited`.
   */
  countAgainst: (name: RateLimitName, email: string, tx?: DatabaseTransaction) => Promise<void>;
}

/** A call about an organisation, by one of its users or an auditor link. */
export type OrgCall<Body = unknown, Query = unknown, Params = unknown> = Call<
  "session",
  Body,
  Query,
  Params
> & { orgId: string };

/** Rows that a submission's own transaction must commit together with its effect. */
export interface SubmissionRecord {
  /**
   * Null if the call carried no Idempotency-Key. Otherwise the transaction, after taking the lock
   * that orders the organisation's submissions, looks the scope up (rows past `expires_at` don't
   * count). If the fingerprint is the same, it answers with the stored status and body and
   * `replayed: true`; if it differs, with `keyReused()`; if there is none, it inserts one with the
   * answer.
   */
  idempotency: { scopeSha256: Buffer; fingerprint: Buffer; createdAt: Date; expiresAt: Date } | null;
  /**
   * The row of api_logs for an answer of this status. Not for replays: the pipeline records those.
   */
  apiLogRow(status: number): ApiLogRow;
  /** Of several submissions in one body: they enter the log in their order. */
  turn?: Turn;
}

/** The place of a submission among those of one body. */
export interface Turn {
  /** Resolves once the one before it waits for the log, or was refused. */
  before: Promise<void>;
  /** Now this one waits. */
  over: () => void;
}

interface RouteShape<Kind extends CredentialKind, B extends TSchema, Q extends TSchema, P extends TSchema> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `:name` for parameters, e.g. `/v1/backups/:id/download-url`. */
  path: string;
  /** One line for the API's documentation. */
  summary: string;
  action: Action;
  /** The credential that the route accepts. */
  credential: Kind;
  /** Refused with 404: a malformed identifier names nothing. */
  params?: P;
  /** Without one, no query parameter is allowed. */
  query?: Q;
  /**
   * Without one, only an empty object or no body is allowed. If nothing in it is required, a
   * missing body counts as an empty object.
   */
  body?: B;
  /**
   * The body of each answer that is not an error, by status; a string is the media type of an
   * answer that is not JSON.
   */
  answers: Readonly<Record<number, TSchema | string>>;
  /** Its own errors, besides those that follow from its credential, parameters, body and limits. */
  errors?: readonly ErrorCode[];
  bodyLimit?: number;
  /** Limits that this call counts against; none by default. */
  rateLimits: readonly RateLimitName[];
  /** How long an Idempotency-Key is remembered; 24 hours by default. */
  idempotencyWindow_s?: number;
}

/** Changes nothing; its API log row is written later, in a batch. */
export interface ReadRoute<
  Kind extends CredentialKind = CredentialKind,
  B extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  P extends TSchema = TSchema,
> extends RouteShape<Kind, B, Q, P> {
  mode: "read";
  /**
   * For calls that agents make all the time: a successful one has no row in the API log, which ten
   * thousand agents would fill.
   */
  unrecorded?: true;
  handle(call: Call<Kind, Static<B>, Static<Q>, Static<P>>): Promise<Answer>;
}

/**
 * Reads what one organisation has, on one snapshot; the path or the session names the organisation.
 */
export interface OrgReadRoute<
  B extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  P extends TSchema = TSchema,
> extends RouteShape<"user" | "session", B, Q, P> {
  mode: "org_read";
  handle(call: OrgCall<Static<B>, Static<Q>, Static<P>>, tx: DatabaseTransaction): Promise<Answer>;
}

/** Changes nothing and answers with bytes that are not JSON, or with a stream. */
export interface FileRoute<
  Kind extends CredentialKind = CredentialKind,
  Q extends TSchema = TSchema,
  P extends TSchema = TSchema,
> extends RouteShape<Kind, TSchema, Q, P> {
  mode: "file";
  handle(call: Call<Kind, unknown, Static<Q>, Static<P>>): Promise<FileAnswer>;
}

/**
 * Changes something in one transaction that the pipeline begins and commits, together with the
 * idempotency record and the API log row. An ApiError of `handle` undoes what it wrote and is still
 * remembered. `handle` may run again after a serialisation failure, so effects outside the database
 * belong in `prepare`, which runs before the transaction.
 */
export interface WriteRoute<
  Kind extends CredentialKind = CredentialKind,
  B extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  P extends TSchema = TSchema,
  Prepared = unknown,
> extends RouteShape<Kind, B, Q, P> {
  mode: "write";
  /** The answer contains a secret, so the remembered answer is sealed. */
  secret?: boolean;
  /**
   * The handler needs rows that belong to no organisation, such as the session of an operator who
   * acts as a user, so row-level security does not apply to it. All other handlers see only the
   * rows of the call's organisation.
   */
  beyondOrg?: true;
  prepare?(call: Call<Kind, Static<B>, Static<Q>, Static<P>>): Promise<Prepared>;
  /**
   * Counts the call against limits in its transaction, after its Idempotency-Key is claimed, so
   * that repeats are not counted. Without a commit nothing is: not a call refused by the limit.
   */
  count?(call: Call<Kind, Static<B>, Static<Q>, Static<P>>, tx: DatabaseTransaction): Promise<void>;
  /**
   * For what agents say once a minute without anything new in it: a way to answer in one statement,
   * after `prepare`, instead of `handle` and its transaction. It writes no row to the API log,
   * which ten thousand agents would fill. Returns null and changes nothing if there is more to do.
   */
  routine?(call: Call<Kind, Static<B>, Static<Q>, Static<P>>): Promise<Answer | null>;
  handle(
    call: Call<Kind, Static<B>, Static<Q>, Static<P>>,
    tx: DatabaseTransaction,
    prepared: Prepared,
  ): Promise<Answer>;
}

/**
 * Commits by itself, e.g. through the log's sequencer. The agent's record may be some seconds old
 * here, so an agent that was revoked meanwhile still gets this far. The transaction has to read
 * agents.status again, after taking the lock that a revocation takes, and refuse with
 * `agentRevoked()`.
 */
export interface SubmitRoute<
  Kind extends CredentialKind = CredentialKind,
  B extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  P extends TSchema = TSchema,
> extends RouteShape<Kind, B, Q, P> {
  mode: "submit";
  /**
   * Several submissions in one body of application/x-ndjson: at most this many lines, and this many
   * bytes in all. Each line is handled and answered by itself; `bodyLimit` is the limit of a line.
   */
  lines?: { most: number; bytes: number };
  handle(call: Call<Kind, Static<B>, Static<Q>, Static<P>>, record: SubmissionRecord): Promise<WireAnswer>;
}

export type Route = ReadRoute | OrgReadRoute | FileRoute | WriteRoute | SubmitRoute;

export function readRoute<K extends CredentialKind, B extends TSchema, Q extends TSchema, P extends TSchema>(
  route: Omit<ReadRoute<K, B, Q, P>, "mode">,
): Route {
  return erased({ ...route, mode: "read" });
}

export function orgReadRoute<B extends TSchema, Q extends TSchema, P extends TSchema>(
  route: Omit<OrgReadRoute<B, Q, P>, "mode" | "credential"> & { credential?: "session" },
): Route {
  return erased({ credential: "user", ...route, mode: "org_read" });
}

export function fileRoute<K extends CredentialKind, Q extends TSchema, P extends TSchema>(
  route: Omit<FileRoute<K, Q, P>, "mode">,
): Route {
  return erased({ ...route, mode: "file" });
}

export function writeRoute<
  K extends CredentialKind,
  B extends TSchema,
  Q extends TSchema,
  P extends TSchema,
  Prepared = undefined,
>(route: Omit<WriteRoute<K, B, Q, P, Prepared>, "mode">): Route {
  return erased({ ...route, mode: "write" });
}

export function submitRoute<
  K extends CredentialKind,
  B extends TSchema,
  Q extends TSchema,
  P extends TSchema,
>(route: Omit<SubmitRoute<K, B, Q, P>, "mode">): Route {
  return erased({ ...route, mode: "submit" });
}

/**
 * Forgets a route's own types, so that the pipeline can hold all routes. Whatever the pipeline
 * gives a handler has passed the route's credential and schemas, as those types say.
 */
function erased(route: object): Route {
  return route as Route;
}
