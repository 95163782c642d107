import { type SourceConfigIssue, SourceFields } from "./source-fields.ts";
import type { SecretReference } from "../secrets/secret-reference.ts";

/** Where a source's backups are restored for a test. */
export type SandboxConfig = "process" | ContainerSandboxConfig | UriSandboxConfig;
export type SandboxKind = "process" | "container" | "uri";

/** A container of this host's Docker or Podman. */
export interface ContainerSandboxConfig {
  readonly kind: "container";
  /**
   * `{major}` in it is replaced by the backup's major version. Null: the engine's own official
   * image.
   */
  readonly image: string | null;
  readonly memory_mb: number;
  readonly cpus: number;
  readonly pids: number;
  /** After this time it ends by itself, whatever happens to the agent. */
  readonly timeLimit_s: number;
  /**
   * Where the restored data is: in a volume of the runtime, or in memory, which counts towards
   * `memory_mb`.
   */
  readonly storage: "disk" | "memory";
}

/** A database that may be emptied and filled. */
export interface UriSandboxConfig {
  readonly kind: "uri";
  readonly database: SecretReference;
}

export function kindOf(sandbox: SandboxConfig): SandboxKind {
  return sandbox === "process" ? sandbox : sandbox.kind;
}

export const CONTAINER_FIELDS = ["kind", "image", "memory_mb", "cpus", "pids", "time_limit_s", "storage"];
export const URI_FIELDS = ["kind", "database"];
const IMAGE = /^[a-z0-9][A-Za-z0-9._:/@{}-]{0,254}$/;

export const CONTAINER_DEFAULTS: ContainerSandboxConfig = {
  kind: "container",
  image: null,
  memory_mb: 2048,
  cpus: 2,
  pids: 512,
  timeLimit_s: 12 * 3600,
  storage: "disk",
};

/** The kinds that an engine's backups can be restored in. */
export interface EngineSandboxes {
  /** The name in the configuration. */
  readonly engine: string;
  readonly kinds: readonly SandboxKind[];
}

/**
 * `sandbox:` of a source: `process`, `container`, or a mapping with `kind`, if its engine has it.
 * If there is any issue, the sandbox must not be used.
 */
export function parseSandbox(
  value: unknown,
  at: string,
  baseDir: string,
  known: EngineSandboxes,
): { readonly sandbox: SandboxConfig; readonly issues: readonly SourceConfigIssue[] } {
  const mapping: Record<string, unknown> =
    typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : { kind: value ?? "process" };
  const fields = new SourceFields(mapping, at, baseDir);
  const sandbox = parseKind(mapping, fields, known);
  const { issues } = fields;
  const isPlain = typeof value !== "object";
  return { sandbox, issues: issues.map(({ path, message }) => ({ path: isPlain ? at : path, message })) };
}

function parseKind(
  mapping: Record<string, unknown>,
  fields: SourceFields,
  { engine, kinds }: EngineSandboxes,
): SandboxConfig {
  const { kind } = mapping;
  if (kind !== "process" && kind !== "container" && kind !== "uri") {
    fields.issue("kind", `must be a sandbox that the engine supports: ${kinds.join(", ")}`);
    return "process";
  }
  if (!kinds.includes(kind)) {
    fields.issue("kind", `${engine} has no sandbox ${kind}; it has ${kinds.join(", ")}`);
    return "process";
  }
  const known = { process: ["kind"], container: CONTAINER_FIELDS, uri: URI_FIELDS }[kind];
  for (const field of Object.keys(mapping)) {
    if (!known.includes(field))
      fields.issue(field, `not a field of ${kind}; its fields are ${known.join(", ")}`);
  }
  if (kind === "process") return kind;
  if (kind === "container") return parseContainer(mapping, fields);
  if (!fields.has("database")) {
    fields.issue("database", "name the throw-away database: { kind: uri, database: env:SCRATCH_URL }");
    return "process";
  }
  const database = fields.secret("database");
  return database === null ? "process" : { kind, database };
}

function parseContainer(mapping: Record<string, unknown>, fields: SourceFields): ContainerSandboxConfig {
  const { memory_mb, cpus, pids, timeLimit_s } = CONTAINER_DEFAULTS;
  const whole = "a whole number";
  const { image, storage } = mapping;
  if (fields.has("image") && !(typeof image === "string" && IMAGE.test(image)))
    fields.issue("image", 'must be the name of an image, such as "postgres:{major}"');
  if (fields.has("storage") && storage !== "disk" && storage !== "memory")
    fields.issue("storage", "must be disk or memory");
  return {
    kind: "container",
    image: typeof image === "string" ? image : null,
    memory_mb: fields.count("memory_mb", memory_mb, { min: 256, max: 4 << 20, what: whole }),
    cpus: fields.count("cpus", cpus, { min: 1, max: 1024, what: whole }),
    pids: fields.count("pids", pids, { min: 32, max: 65_536, what: whole }),
    timeLimit_s: fields.count("time_limit_s", timeLimit_s, { min: 10, max: 7 * 86_400, what: "seconds" }),
    storage: storage === "memory" ? "memory" : "disk",
  };
}
