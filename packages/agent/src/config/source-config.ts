import { nearestName } from "@attestore/host/nearest-name";
import { ENGINE_SETTINGS } from "./engines/engine-settings.ts";
import { type CheckConfig } from "../checks/evaluation/check-config.ts";
import { parseChecks } from "./parse-checks.ts";
import { parseSandbox, type SandboxConfig } from "./sandbox-config.ts";
import { DEFAULT_LIMITS, type SourceLimits, parseLimits } from "./source-limits.ts";
import { SourceConfigError, type SourceConfigIssue, SourceFields } from "./source-fields.ts";

export type { CheckConfig } from "../checks/evaluation/check-config.ts";
export { type ConnectionReference, SourceConfigError, type SourceConfigIssue } from "./source-fields.ts";

/** The settings that every engine's sources have. */
export interface SourceCommon {
  readonly slug: string;
  readonly engine: string;
  /** Where its backups are restored for a test. */
  readonly sandbox: SandboxConfig;
  readonly checks: readonly CheckConfig[];
  /** How long the query of one check may run on the restored data. */
  readonly checkTimeout_s: number;
  /** False if tables, or a directory, may normally lose half of their content between two tests. */
  readonly rowFloors?: boolean;
  /** Its limits; the built-in ones by default. */
  readonly limits?: SourceLimits;
  /**
   * Tables that may shrink, by the names that checks use, or by patterns with `*`; see
   * `meansTable`.
   */
  readonly mayShrink?: readonly string[];
  /** Which backup a restore test is of, where nobody names one; the newest by default. */
  readonly pick?: Pick;
  /** The effect of suspicious data on a restore test; by default it only reports them. */
  readonly onSuspicion?: "tell" | "fail";
  /** For people: what it belongs to, and where it runs. The service shows them. */
  readonly tags?: readonly string[];
  readonly environment?: string;
  /** How long it may take to get its data back: download, decryption and restore. */
  readonly rto_s?: number;
  /** How old its newest backup may be. A service has an objective of its own for this. */
  readonly rpo_s?: number;
}

type SettingsOf<Name extends EngineName> = NonNullable<ReturnType<(typeof ENGINE_SETTINGS)[Name]["parse"]>>;
/** A source of one engine, with the engine's own settings. */
export type SourceConfigOf<Name extends EngineName> = SourceCommon &
  SettingsOf<Name> & { readonly engine: Name };

export type EngineName = keyof typeof ENGINE_SETTINGS;
export type SourceConfig = { [Name in EngineName]: SourceConfigOf<Name> }[EngineName];

/** Besides the newest, that is, which is tested first if it has not passed yet. */
const PICKS = ["newest", "random", "oldest"] as const;
export type Pick = (typeof PICKS)[number];

export const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const MAX_TIMEOUT_S = 24 * 3600;

/** The fields of every source. */
export const SOURCE_FIELDS = [
  "engine",
  "sandbox",
  "checks",
  "check_timeout_s",
  "row_floors",
  "may_shrink",
  "on_suspicion",
  "objectives",
  "restore_test",
  "limits",
  "tags",
  "environment",
];
const NAMES = Object.keys(ENGINE_SETTINGS) as EngineName[];

/**
 * One entry of `sources:` in config.yaml, as parsed from YAML. Relative paths are relative to
 * `baseDir` (the root).
 * @throws SourceConfigError with every issue found, not only the first.
 */
export function parseSourceConfig(
  slug: string,
  value: unknown,
  baseDir: string,
  builtInLimits = DEFAULT_LIMITS,
): SourceConfig {
  const issues: SourceConfigIssue[] = [];
  const at = `sources.${slug}`;
  const issue = (path: string, message: string): void => void issues.push({ path, message });

  if (!SLUG.test(slug)) {
    issue(
      at,
      "a source's name has up to 63 characters of a-z, 0-9, - and _, and starts with a letter or digit",
    );
  }
  if (!isRecord(value)) throw new SourceConfigError([...issues, { path: at, message: "must be a mapping" }]);

  const engine = NAMES.find((name) => name === value["engine"]);
  if (engine === undefined) {
    issue(`${at}.engine`, `must be one of ${NAMES.join(", ")}${nearest(value["engine"], NAMES)}`);
    throw new SourceConfigError(issues);
  }
  const settings = ENGINE_SETTINGS[engine];
  const known = [...SOURCE_FIELDS, ...settings.fields];
  for (const field of Object.keys(value)) {
    if (known.includes(field)) continue;
    const near = nearest(field, known);
    issue(`${at}.${field}`, `not a field of ${engine}${near || `; its fields are ${known.join(", ")}`}`);
  }
  const kinds = settings.sandboxes ?? ["process"];
  const place = parseSandbox(value["sandbox"], `${at}.sandbox`, baseDir, { engine, kinds });
  const asked = parseChecks(value["checks"], `${at}.checks`, baseDir);
  issues.push(...place.issues, ...asked.issues);

  const common: SourceCommon = {
    slug,
    engine,
    sandbox: place.sandbox,
    checks: asked.checks,
    checkTimeout_s: parseTimeout(value["check_timeout_s"], `${at}.check_timeout_s`, issue),
  };
  const objectives = parseObjectives(value["objectives"], `${at}.objectives`, issue);
  const pick = parsePick(value["restore_test"], `${at}.restore_test`, issue);
  const limits = parseLimits(value["limits"], builtInLimits, (field, message) =>
    issue(field === "" ? `${at}.limits` : `${at}.limits.${field}`, message),
  );
  const fields = new SourceFields(value, at, baseDir);
  const rowFloors = fields.flag("row_floors", true);
  const mayShrink = fields.texts("may_shrink", "names of tables, as in the ids of checks") ?? [];
  const labels = parseLabels(fields);
  const onSuspicion = parseOnSuspicion(value["on_suspicion"], `${at}.on_suspicion`, issue);
  const own = settings.parse(fields);
  issues.push(...fields.issues);
  if (issues.length > 0 || own === null) throw new SourceConfigError(issues);
  // An engine's settings depend on its name, which the compiler can't follow through the table.
  return {
    ...common,
    limits,
    ...labels,
    rowFloors,
    mayShrink,
    ...objectives,
    ...(pick === null ? {} : { pick }),
    ...(onSuspicion === null ? {} : { onSuspicion }),
    ...own,
  } as SourceConfig;
}

const TAG = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const TAG_FORM = "up to 63 characters of a-z, 0-9, . - and _, beginning with a letter or digit";
const MAX_TAGS = 20;

/** Sorted, so that their order makes no difference. */
function parseLabels(fields: SourceFields): {
  readonly tags?: readonly string[];
  readonly environment?: string;
} {
  const tags = fields.has("tags") ? (fields.texts("tags", "a list of tags") ?? []) : [];
  if (tags.length > MAX_TAGS || new Set(tags).size < tags.length || !tags.every((tag) => TAG.test(tag)))
    fields.issue("tags", `takes up to ${MAX_TAGS} different tags, each of ${TAG_FORM}`);
  const environment = fields.has("environment") ? fields.text("environment", "such as production") : null;
  if (environment !== null && !TAG.test(environment)) fields.issue("environment", `takes ${TAG_FORM}`);
  return {
    ...(tags.length === 0 ? {} : { tags: tags.toSorted() }),
    ...(environment === null ? {} : { environment }),
  };
}

function nearest(typed: unknown, names: readonly string[]): string {
  const near = typeof typed === "string" ? nearestName(typed, names) : null;
  return near === null ? "" : `; did you mean "${near}"?`;
}

type Report = (path: string, message: string) => void;

export const OBJECTIVES = ["rpo_s", "rto_s"] as const;

function parseObjectives(
  value: unknown,
  at: string,
  issue: Report,
): { readonly [Name in (typeof OBJECTIVES)[number]]?: number } {
  if (value === undefined || value === null) return {};
  const what = "must be { rpo_s: seconds, rto_s: seconds }, whole numbers from 1, one of them or both";
  if (!isRecord(value) || Object.keys(value).length === 0) {
    issue(at, what);
    return {};
  }
  const found: { rpo_s?: number; rto_s?: number } = {};
  for (const [field, seconds] of Object.entries(value)) {
    const name = OBJECTIVES.find((each) => each === field);
    if (name === undefined)
      issue(`${at}.${field}`, `not a known objective; there are ${OBJECTIVES.join(" and ")}`);
    else if (typeof seconds === "number" && Number.isSafeInteger(seconds) && seconds > 0)
      found[name] = seconds;
    else issue(`${at}.${field}`, what);
  }
  return found;
}

function parsePick(value: unknown, at: string, issue: Report): Pick | null {
  if (value === undefined || value === null) return null;
  const what = `must be { pick: ${PICKS.join(" | ")} }`;
  if (!isRecord(value)) {
    issue(at, what);
    return null;
  }
  for (const field of Object.keys(value)) {
    if (field !== "pick") issue(`${at}.${field}`, "not a known setting; the only one is pick");
  }
  const pick = PICKS.find((each) => each === value["pick"]);
  if (pick === undefined) issue(`${at}.pick`, `must be one of ${PICKS.join(", ")}`);
  return pick ?? null;
}

function parseTimeout(value: unknown, at: string, issue: Report): number {
  if (value === undefined) return 60;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_TIMEOUT_S)
    return value;
  issue(at, `must be a whole number of seconds from 1 to ${MAX_TIMEOUT_S}`);
  return 60;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseOnSuspicion(
  value: unknown,
  path: string,
  issue: (path: string, message: string) => void,
): "tell" | "fail" | null {
  if (value === undefined) return null;
  if (value === "tell" || value === "fail") return value;
  issue(path, "must be tell or fail");
  return null;
}
