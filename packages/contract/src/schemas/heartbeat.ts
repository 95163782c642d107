import { Type, type Static } from "typebox";
import { AgentEncryption, AgentSpool } from "./agents.ts";
import { DeliveredConfigRequest } from "./config-requests.ts";
import { Count, EngineName, Id, Label, Slug, strict, Tag, Tags, Timestamp } from "./scalars.ts";

/**
 * A source that an agent declares. The first declaration registers it with the organisation. Its
 * tags and environment are those of the newest declaration: none if the agent sends none.
 */
export const DeclaredSource = Type.Object(
  {
    slug: Slug,
    engine: EngineName,
    name: Type.Optional(Label(100)),
    tags: Type.Optional(Tags),
    environment: Type.Optional(Tag),
  },
  strict,
);
export type DeclaredSource = Static<typeof DeclaredSource>;

export const CommandKind = Type.Enum(["backup", "restore_test"]);
export type CommandKind = Static<typeof CommandKind>;

/** A command as a heartbeat delivers it. `attempt` counts deliveries from 1. */
export const DeliveredCommand = Type.Object(
  {
    id: Id("command"),
    kind: CommandKind,
    source: Type.Object({ id: Id("source"), slug: Slug, engine: EngineName }, strict),
    params: Type.Object({ backup_id: Type.Optional(Id("backup")) }, strict),
    issued_at: Timestamp,
    attempt: Type.Integer({ minimum: 1 }),
  },
  strict,
);
export type DeliveredCommand = Static<typeof DeliveredCommand>;

/**
 * Body of `POST /v1/heartbeat`. `log_head` is the checkpoint that the agent holds, `cosignature`
 * its signature line over it, `spool` the number of queued items, and `encryption` the recipients
 * of its backups. `remote_config` says that config.yaml has `allow_remote_config: true`.
 */
export const HeartbeatRequest = Type.Object(
  {
    agent_version: Label(64),
    hostname: Label(253),
    platform: Label(64),
    uptime_s: Count,
    sources: Type.Array(DeclaredSource, { maxItems: 1000 }),
    acks: Type.Array(Type.Object({ command_id: Id("command") }, strict), { maxItems: 1000 }),
    log_head: Type.Optional(Type.String({ maxLength: 16384 })),
    cosignature: Type.Optional(Type.String({ maxLength: 1024 })),
    spool: Type.Optional(AgentSpool),
    encryption: Type.Optional(AgentEncryption),
    remote_config: Type.Optional(Type.Literal(true)),
  },
  strict,
);
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;

/**
 * A declared source with the id that later calls use. `agent_id` is set if another agent makes its
 * backups.
 */
export const RegisteredSource = Type.Object(
  { id: Id("source"), slug: Slug, agent_id: Type.Optional(Id("agent")) },
  strict,
);
export type RegisteredSource = Static<typeof RegisteredSource>;

/**
 * 200 of a heartbeat. `log_head` is the newest signed checkpoint of the organisation's log.
 * `sources` are the declared sources with their ids. `config_requests` come only to an agent that
 * said `remote_config`.
 */
export const HeartbeatResponse = Type.Object(
  {
    server_time: Timestamp,
    next_interval_s: Type.Integer({ minimum: 1 }),
    commands: Type.Array(DeliveredCommand),
    log_head: Type.String(),
    sources: Type.Optional(Type.Array(RegisteredSource)),
    config_requests: Type.Optional(Type.Array(DeliveredConfigRequest)),
  },
  strict,
);
export type HeartbeatResponse = Static<typeof HeartbeatResponse>;

/**
 * 200 of `GET /v1/commands`. `queued`: the next heartbeat's answer has commands. Otherwise the wait
 * is over, perhaps before its time.
 */
export const CommandNotice = Type.Object({ queued: Type.Boolean() }, strict);
export type CommandNotice = Static<typeof CommandNotice>;
