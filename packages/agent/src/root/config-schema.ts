import { Type, type Static } from "typebox";
import { FLAGS, isDefaultName, settingName, takesValue, type FlagName } from "./flag-table.ts";

const strict = { additionalProperties: false } as const;

const FLAG_NAMES = (Object.keys(FLAGS) as FlagName[]).filter(isDefaultName);

/**
 * Values for flags that a call leaves out: flag, then its ATTESTORE_* twin, then these, then the built-in value. Every
 * flag of a call has its field here, in snake_case.
 */
const Defaults = Type.Object(
  Object.fromEntries(
    FLAG_NAMES.map((name) => [
      settingName(name),
      Type.Optional(
        takesValue(name) ? Type.Union([Type.String({ minLength: 1 }), Type.Number()]) : Type.Boolean(),
      ),
    ]),
  ),
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
