import { Type, type Static } from "typebox";
import { Count, Id, Sha256, strict, Timestamp } from "./scalars.ts";

/**
 * An inclusion proof (RFC 9162 section 2.1.3). Hashes are in hex, the one nearest the leaf first.
 */
export const InclusionProof = Type.Object(
  { log_index: Count, tree_size: Count, hashes: Type.Array(Sha256) },
  strict,
);
export type InclusionProof = Static<typeof InclusionProof>;

/** A consistency proof (RFC 9162 section 2.1.4) between two tree sizes. */
export const ConsistencyProof = Type.Object({ from: Count, to: Count, hashes: Type.Array(Sha256) }, strict);
export type ConsistencyProof = Static<typeof ConsistencyProof>;

/**
 * A leaf of the log. Its bytes are the RFC 8785 form of this object, so anyone who has the object
 * can compute the leaf hash.
 */
export const Leaf = Type.Object(
  {
    v: Type.Literal(1),
    kind: Type.String(),
    org_id: Id("org"),
    id: Type.String(),
    actor_id: Type.String(),
    recorded_at: Timestamp,
    body_sha256: Sha256,
    signature: Type.Optional(Type.String()),
  },
  strict,
);
export type Leaf = Static<typeof Leaf>;

/** An entry's position in its log, with its proof. `log_id` is the log's origin. */
export const inclusionFields = {
  log_index: Count,
  leaf: Leaf,
  leaf_hash: Sha256,
  log_id: Type.String(),
  inclusion_proof: InclusionProof,
  checkpoint: Type.String(),
};

/** An event that the service itself wrote, with the proof that it is in the log. */
export const ServiceEvent = Type.Object(
  {
    event: Type.Object(
      { kind: Type.String(), occurred_at: Timestamp, detail: Type.Record(Type.String(), Type.Unknown()) },
      strict,
    ),
    leaf: Leaf,
    inclusion_proof: InclusionProof,
    checkpoint: Type.String(),
    log: Type.Object({ origin: Type.String(), verifier_key: Type.String() }, strict),
  },
  strict,
);
export type ServiceEvent = Static<typeof ServiceEvent>;

/** Query of `GET /v1/log/generations`: only lost heads of that size. */
export const LogGenerationsQuery = Type.Object(
  { tree_size: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,15}$", examples: ["42"] })) },
  strict,
);
export type LogGenerationsQuery = Static<typeof LogGenerationsQuery>;

/**
 * 200 of `GET /v1/log/generations`: the events that began the log's later generations, each proven
 * in its generation's first head, and the `log_head_lost` events, proven in the newest head. Empty
 * for a log that never lost an entry.
 */
export const LogGenerations = Type.Object(
  { began: Type.Array(ServiceEvent), lost: Type.Array(ServiceEvent) },
  strict,
);
export type LogGenerations = Static<typeof LogGenerations>;

/** 200 of `GET /v1/log/head`. */
export const LogHead = Type.Object(
  {
    log_id: Type.String(),
    tree_size: Count,
    root_hash: Sha256,
    timestamp: Timestamp,
    checkpoint: Type.String(),
  },
  strict,
);
export type LogHead = Static<typeof LogHead>;

/** Query of `GET /v1/log/proof`. Numbers arrive as text and must be plain decimals. */
export const LogProofQuery = Type.Object(
  {
    leaf: Type.String({ pattern: "^(0|[1-9][0-9]{0,15}|[0-9a-f]{64})$", examples: ["41"] }),
    tree_size: Type.String({ pattern: "^[1-9][0-9]{0,15}$", examples: ["42"] }),
    from: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,15}$", examples: ["7"] })),
  },
  strict,
);
export type LogProofQuery = Static<typeof LogProofQuery>;

/** 200 of `GET /v1/log/proof`. `consistency` is null without a `from`. */
export const LogProof = Type.Object(
  {
    inclusion: InclusionProof,
    consistency: Type.Union([ConsistencyProof, Type.Null()]),
    checkpoint: Type.String(),
  },
  strict,
);
export type LogProof = Static<typeof LogProof>;

/**
 * 200 of `GET /api/orgs/{orgID}/log`: the log's name and the keys that sign its checkpoints, as
 * C2SP verifier keys. Anyone who takes the keys only from here trusts the service.
 */
export const LogKeys = Type.Object(
  {
    log_id: Type.String(),
    verifier_key: Type.String(),
    /**
     * The key of the `cosignature/v1` on hourly checkpoints: the service's second key, which
     * vouches for their time.
     */
    time_verifier_key: Type.String(),
    public_log: Type.Boolean(),
    /** Whether the log takes no entries, because the database lacks a head that was signed. */
    read_only: Type.Boolean(),
    /**
     * For each later generation, how many receipts and signed events of before it began came into
     * it: those that agents handed in again, and those that still waited on a host. At most 10,000
     * of each are counted. Empty for a log that never lost an entry.
     */
    handed_in_again: Type.Array(
      Type.Object({ generation: Type.Integer({ minimum: 2 }), receipts: Count, events: Count }, strict),
    ),
  },
  strict,
);
export type LogKeys = Static<typeof LogKeys>;

/**
 * An agent that cosigned a checkpoint of its log, with the newest one kept. Listed unless the agent
 * is revoked.
 */
export const WitnessRecord = Type.Object(
  {
    agent_id: Id("agent"),
    name: Type.String(),
    /** The agent's key as a witness, named after its id. */
    verifier_key: Type.String(),
    tree_size: Count,
    /** A signed note with the log's and the witness's signatures. */
    checkpoint: Type.String(),
    received_at: Timestamp,
  },
  strict,
);
export type WitnessRecord = Static<typeof WitnessRecord>;
