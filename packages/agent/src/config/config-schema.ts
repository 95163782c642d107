import { Type, type Static } from "typebox";
import { HTTPS_ORIGIN } from "./https-origin.ts";
import { FLAGS, isDefaultName, settingName, takesValue, type FlagName } from "./flag-table.ts";

const strict = { additionalProperties: false } as const;

const FLAG_NAMES = (Object.keys(FLAGS) as FlagName[]).filter(isDefaultName);

/**
 * Values for flags that a call leaves out. The order is: flag, its ATTESTORE_* variable, these, the
 * built-in value. Every flag of a call has its field here, in snake_case.
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

const Count = Type.Integer({ minimum: 0, maximum: 100_000 });
const Secret = Type.String({
  pattern: "^(env:[A-Za-z_][A-Za-z0-9_]*|credential:[A-Za-z0-9_][A-Za-z0-9._-]*|file:.+)$",
});

/** Without a service: where the backups go, and how long they stay. */
export const StandaloneBlock = Type.Object(
  {
    storage: Type.Optional(
      Type.Object(
        {
          path: Type.Optional(Type.String({ minLength: 1 })),
          s3: Type.Optional(
            Type.Object(
              {
                bucket: Type.String({ pattern: "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$" }),
                prefix: Type.Optional(Type.String({ maxLength: 512 })),
                endpoint: Type.Optional(Type.String({ pattern: "^https://[^\\s/?#@]+/?$" })),
                region: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" })),
                ca_file: Type.Optional(Type.String({ minLength: 1 })),
                access_key_id: Type.Optional(Secret),
                secret_access_key: Type.Optional(Secret),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    ),
    retention: Type.Optional(
      Type.Object(
        {
          keep_last: Type.Optional(Count),
          keep_days: Type.Optional(Count),
          keep_daily: Type.Optional(Count),
          keep_weekly: Type.Optional(Count),
          keep_monthly: Type.Optional(Count),
          keep_yearly: Type.Optional(Count),
        },
        strict,
      ),
    ),
  },
  strict,
);

/** config.yaml as it is written; `parseSourceConfig` reads each of the `sources`. */
export const ConfigFile = Type.Object(
  {
    service: Type.Optional(
      Type.Object(
        {
          /** `https://host[:port]`. */
          url: Type.String({ pattern: "^https://[^\\s/?#@]+/?$" }),
          /**
           * The CA, or the one certificate, that the service must present; without it the public
           * CAs.
           */
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
            Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { minItems: 1, maxItems: 32 }),
          ),
          identity_files: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 32 })),
        },
        strict,
      ),
    ),
    standalone: Type.Optional(StandaloneBlock),
    /** When, and how fast, ciphertexts are sent to the object store. */
    upload: Type.Optional(
      Type.Object(
        {
          max_rate: Type.Optional(Type.Union([Type.String(), Type.Integer({ minimum: 1 })])),
          windows: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 16 })),
        },
        strict,
      ),
    ),
    /** Whose backups this host tests and restores besides its own, by the source's name. */
    test_for: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            keys: Type.Array(Type.String(), { minItems: 1, maxItems: 32 }),
            source_id: Type.Optional(Type.String({ pattern: "^src_[0-9a-z]{26}$" })),
          },
          strict,
        ),
      ),
    ),
    /** Whether people of the organisation may add sources and checks over the service. */
    allow_remote_config: Type.Optional(Type.Boolean()),
    /** Below which of this host's directories they may pick files and SQLite databases. */
    remote_config_paths: Type.Optional(
      Type.Array(Type.String({ pattern: "^/[^/]", maxLength: 4096 }), { maxItems: 16 }),
    ),
    /** For every source that has none of its own; read by `parseLimits`. */
    limits: Type.Optional(Type.Unknown()),
    defaults: Type.Optional(Defaults),
    sources: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  strict,
);
export type ConfigFile = Static<typeof ConfigFile>;

/** Messages for values that don't fit, by JSON Pointer; otherwise the validator's own words. */
export const EXPECTED: Readonly<Record<string, string>> = {
  "/service/url": `must be ${HTTPS_ORIGIN}`,
  "/standalone/storage/s3/endpoint": `must be ${HTTPS_ORIGIN}`,
  "/standalone/storage/s3/access_key_id": "must be env:NAME, file:PATH or credential:NAME",
  "/standalone/storage/s3/secret_access_key": "must be env:NAME, file:PATH or credential:NAME",
  "/allow_remote_config": "must be true or false",
  "/remote_config_paths": "must be a list of at most 16 absolute paths of directories, and not of / itself",
  "/agent/id": "must be the agent's id, agent_…",
  "/agent/org_id": "must be the organisation's id, org_…",
};
