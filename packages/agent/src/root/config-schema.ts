import { Type, type Static } from "typebox";

const strict = { additionalProperties: false } as const;

/**
 * Values for flags that a call leaves out: flag, then its ATTESTORE_* twin, then these, then the built-in value. Every
 * flag of one call has its field here.
 */
export const Defaults = Type.Object(
  {
    source: Type.Optional(Type.String({ minLength: 1 })),
    backup: Type.Optional(Type.String({ minLength: 1 })),
    file: Type.Optional(Type.String({ minLength: 1 })),
    output: Type.Optional(Type.String({ minLength: 1 })),
    identity: Type.Optional(Type.String({ minLength: 1 })),
    json: Type.Optional(Type.Boolean()),
    wait: Type.Optional(Type.Boolean()),
  },
  strict,
);
export type Defaults = Static<typeof Defaults>;

/** config.yaml as it is written; `sources` are read one by one by `parseSourceConfig`. */
export const ConfigFile = Type.Object(
  {
    service: Type.Optional(
      Type.Object(
        {
          /** `https://host[:port]`. */
          url: Type.String({ pattern: "^https://[^\\s/?#@]+/?$" }),
          /** The CA, or the one certificate, that the service has to show; without it the public CAs. */
          ca_file: Type.Optional(Type.String({ minLength: 1 })),
        },
        strict,
      ),
    ),
    agent: Type.Optional(
      Type.Object(
        {
          id: Type.String({ pattern: "^agent_[0-9a-z]{26}$" }),
          org_id: Type.String({ pattern: "^org_[0-9a-z]{26}$" }),
          name: Type.Optional(Type.String({ minLength: 1 })),
        },
        strict,
      ),
    ),
    encryption: Type.Optional(
      Type.Object(
        {
          recipients: Type.Optional(
            Type.Array(Type.String({ pattern: "^age1[02-9ac-hj-np-z]+$" }), { minItems: 1, maxItems: 32 }),
          ),
          identity_files: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 32 })),
        },
        strict,
      ),
    ),
    defaults: Type.Optional(Defaults),
    sources: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  strict,
);
export type ConfigFile = Static<typeof ConfigFile>;

/** What to say where a value does not fit, by JSON Pointer; the validator's own words elsewhere. */
export const EXPECTED: Readonly<Record<string, string>> = {
  "/service/url": "must be https://HOST or https://HOST:PORT",
  "/agent/id": "must be the agent's id, agent_…",
  "/agent/org_id": "must be the organisation's id, org_…",
};
