import { Type, type Static } from "typebox";
import { Count, EngineName, Id, OrNull, strict, Timestamp } from "./scalars.ts";

/** How long an agent may take to fetch a request. Afterwards nobody runs it. */
export const CONFIG_REQUEST_LIFETIME_S = 15 * 60;
/** Of one agent at a time, and in one heartbeat. */
export const MAX_OPEN_CONFIG_REQUESTS = 10;

/**
 * A place that an agent found, such as `socket:postgresql:5432` or `source:orders`. Of a directory
 * that config.yaml allows, it is the engine and the beginning of the SHA-256 of its path.
 */
export const ServerPlace = Type.String({
  pattern:
    "^(socket:(postgresql|mariadb)(:\\d{1,5})?|source:[a-z0-9][a-z0-9_-]{0,62}|(sqlite|files):[0-9a-f]{16})$",
  examples: ["socket:postgresql:5432"],
});

/** The name of a source in config.yaml, or the id of one of its checks. */
const ConfigName = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,62}$", examples: ["orders"] });

/** A name as a database has it. It is only ever compared with a list of the agent's own. */
const ForeignName = Type.String({ minLength: 1, maxLength: 300, examples: ["orders"] });

/** What a check measures: of a table, or of one of its columns. */
export const Measure = Type.Enum(["rows", "distinct", "filled", "newest"]);
export type Measure = Static<typeof Measure>;

/**
 * What the service may ask of an agent whose config.yaml has `allow_remote_config: true`: a choice
 * among what the agent offers, and no text that would be run or written
 * (docs/decisions/0014-remote-config.md). `tried` is an earlier request, whose result the agent
 * has.
 */
export const ConfigRequest = Type.Union([
  Type.Object({ kind: Type.Literal("discover") }, strict),
  Type.Object({ kind: Type.Literal("try_source"), place: ServerPlace, database: ForeignName }, strict),
  Type.Object(
    {
      kind: Type.Literal("add_source"),
      tried: Id("configRequest"),
      name: ConfigName,
      /** Ids of checks that the agent proposed. */
      checks: Type.Array(ConfigName, { maxItems: 20, uniqueItems: true }),
    },
    strict,
  ),
  Type.Object({ kind: Type.Literal("list_columns"), source: ConfigName }, strict),
  Type.Object(
    {
      kind: Type.Literal("try_check"),
      source: ConfigName,
      measure: Measure,
      table: ForeignName,
      /** Of every measure except `rows`. */
      column: Type.Optional(ForeignName),
      /** At least so many; of `newest`, at most so many hours old. */
      threshold: Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 }),
    },
    strict,
  ),
  Type.Object({ kind: Type.Literal("add_check"), tried: Id("configRequest"), name: ConfigName }, strict),
]);
export type ConfigRequest = Static<typeof ConfigRequest>;

export const ConfigRequestKind = Type.Enum([
  "discover",
  "try_source",
  "add_source",
  "list_columns",
  "try_check",
  "add_check",
]);
export type ConfigRequestKind = Static<typeof ConfigRequestKind>;

/** A request as a heartbeat delivers it. `asked_by` is the id of the user who asked. */
export const DeliveredConfigRequest = Type.Object(
  { id: Id("configRequest"), asked_by: Id("user"), request: ConfigRequest },
  strict,
);
export type DeliveredConfigRequest = Static<typeof DeliveredConfigRequest>;

const Text = (maxLength: number) => Type.String({ maxLength });

/**
 * A server that an agent can reach, or could not; or a directory of its host, whose `databases` are
 * paths in it.
 */
export const FoundServer = Type.Object(
  {
    place: ServerPlace,
    engine: EngineName,
    /** Where it is, for people: a socket's path, or the source whose connection leads there. */
    label: Text(300),
    state: Type.Enum(["ready", "refused", "no_client"]),
    /** Why not, in the agent's words. */
    problem: Type.Optional(Text(1000)),
    databases: Type.Array(Type.Object({ name: Text(300), source: Type.Optional(ConfigName) }, strict), {
      maxItems: 500,
    }),
  },
  strict,
);
export type FoundServer = Static<typeof FoundServer>;

const ProposedCheck = Type.Object({ id: ConfigName, query: Text(2000), expect: Text(500) }, strict);

/** A database that the agent reached, and from which it began a dump and stopped it. */
export const TriedSource = Type.Object(
  {
    engine: EngineName,
    /** Such as `postgresql 15.20`. */
    version: Text(200),
    tables: OrNull(Count),
    checks: Type.Array(ProposedCheck, { maxItems: 20 }),
    not_proposed: Type.Array(Type.Object({ id: Text(700), why: Text(500) }, strict), { maxItems: 20 }),
  },
  strict,
);
export type TriedSource = Static<typeof TriedSource>;

/** `time`: a column whose newest time can be measured. */
export const ListedTable = Type.Object(
  {
    name: Text(300),
    columns: Type.Array(Type.Object({ name: Text(300), kind: Type.Enum(["time", "other"]) }, strict), {
      maxItems: 500,
    }),
  },
  strict,
);
export type ListedTable = Static<typeof ListedTable>;

/** A check that was run on a restored backup. `value` is a count, or a time in RFC 3339. */
export const TriedCheck = Type.Object(
  {
    query: Text(2000),
    expect: Text(500),
    backup_id: Id("backup"),
    held: Type.Boolean(),
    value: OrNull(Type.Union([Type.Number(), Text(64)])),
    /** Why it did not hold, if that is more than an unmet expectation. */
    problem: Type.Optional(Text(500)),
    duration_ms: Count,
    /** The ways in which the copy was ruined, by what the check made of it. */
    noticed: Type.Array(Text(400), { maxItems: 20 }),
    not_noticed: Type.Array(Text(400), { maxItems: 20 }),
    not_tried: Type.Array(Text(400), { maxItems: 20 }),
  },
  strict,
);
export type TriedCheck = Static<typeof TriedCheck>;

/** As most systems allow it. An agent with another name does not say it. */
export const ACCOUNT_NAME = "^[A-Za-z_][A-Za-z0-9_.-]{0,62}$";

/** What an agent did, by the request's kind. */
export const ConfigResult = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("discover"),
      /** The account that the agent runs as, which a server's socket knows it by. */
      user: Type.Optional(Type.String({ pattern: ACCOUNT_NAME, examples: ["attestore"] })),
      servers: Type.Array(FoundServer, { maxItems: 50 }),
    },
    strict,
  ),
  Type.Object({ kind: Type.Literal("try_source"), source: TriedSource }, strict),
  Type.Object(
    {
      kind: Type.Literal("add_source"),
      added: ConfigName,
      /** Absent if the service did not say yet. */
      source_id: Type.Optional(Id("source")),
    },
    strict,
  ),
  Type.Object(
    {
      kind: Type.Literal("list_columns"),
      tables: Type.Array(ListedTable, { maxItems: 2000 }),
      /** Whether there are more tables or columns than that. */
      is_cut: Type.Boolean(),
    },
    strict,
  ),
  Type.Object({ kind: Type.Literal("try_check"), check: TriedCheck }, strict),
  Type.Object({ kind: Type.Literal("add_check"), source: ConfigName, added: ConfigName }, strict),
]);
export type ConfigResult = Static<typeof ConfigResult>;

/** Why an agent did nothing, with a code of the contract's section 12. */
export const ConfigRefusal = Type.Object(
  { reason: Type.String({ pattern: "^[a-z][a-z0-9_]{0,63}$" }), message: Text(2000) },
  strict,
);
export type ConfigRefusal = Static<typeof ConfigRefusal>;

/** Body of `POST /v1/config-requests/{id}/answer`: one of the two. */
export const ConfigAnswer = Type.Union([
  Type.Object({ result: ConfigResult }, strict),
  Type.Object({ refusal: ConfigRefusal }, strict),
]);
export type ConfigAnswer = Static<typeof ConfigAnswer>;

/** 200 of it. */
export const ConfigAnswerAccepted = Type.Object({ id: Id("configRequest") }, strict);
export type ConfigAnswerAccepted = Static<typeof ConfigAnswerAccepted>;

/**
 * The record of a request. `expired`: the agent did not fetch it in time, and will not. `result`
 * and `refusal` are null until it is answered, and one of them after that.
 */
export const ConfigRequestRecord = Type.Object(
  {
    id: Id("configRequest"),
    created_at: Timestamp,
    org_id: Id("org"),
    agent_id: Id("agent"),
    asked_by: Id("user"),
    status: Type.Enum(["queued", "delivered", "answered", "expired"]),
    request: ConfigRequest,
    expires_at: Timestamp,
    answered_at: OrNull(Timestamp),
    result: OrNull(ConfigResult),
    refusal: OrNull(ConfigRefusal),
  },
  strict,
);
export type ConfigRequestRecord = Static<typeof ConfigRequestRecord>;
