import { ENGINES } from "../engines/registry.ts";
import { ExpectationError, parseExpectation } from "../checks/index.ts";
import { parseSandbox, type SandboxConfig } from "../sandboxes/sandbox-config.ts";
import { nearestName } from "./nearest-name.ts";
import { SourceConfigError, type SourceConfigIssue, SourceFields } from "./source-fields.ts";

export { type ConnectionReference, SourceConfigError, type SourceConfigIssue } from "./source-fields.ts";

/** What runs against the restored data: one row of `query`, held against `expect`. */
export interface CheckConfig {
  /** Lower-case letters, digits, `-` and `_`; unique within its source. */
  readonly id: string;
  /** SQL that gives one row. For `files`: a path inside the tree (`.` for all of it). */
  readonly query: string;
  /** An expression over the row's columns, such as `n >= 1000 and newest is not null`. */
  readonly expect: string;
}

/** What every source has, whatever its engine. */
export interface SourceCommon {
  readonly slug: string;
  readonly engine: string;
  /** Where its backups are restored to be tested. */
  readonly sandbox: SandboxConfig;
  readonly checks: readonly CheckConfig[];
  /** How long one check's query may run on the restored data. */
  readonly checkTimeout_s: number;
}

type SettingsOf<Name extends EngineName> = NonNullable<
  ReturnType<(typeof ENGINES)[Name]["settings"]["parse"]>
>;
/** A source of one engine, with the engine's own settings. */
export type SourceConfigOf<Name extends EngineName> = SourceCommon &
  SettingsOf<Name> & { readonly engine: Name };

export type EngineName = keyof typeof ENGINES;
export type SourceConfig = { [Name in EngineName]: SourceConfigOf<Name> }[EngineName];

export const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const CHECK_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const MAX_QUERY = 16_384;
const MAX_EXPECT = 500;
const MAX_CHECKS = 100;
const MAX_TIMEOUT_S = 24 * 3600;

/** The fields of every source. */
const COMMON = ["engine", "sandbox", "checks", "check_timeout_s"];
const NAMES = Object.keys(ENGINES) as EngineName[];

/**
 * One entry of `sources:` in config.yaml, as parsed from YAML. Relative paths are relative to `baseDir` (the root).
 * @throws SourceConfigError with every issue found, not only the first.
 */
export function parseSourceConfig(slug: string, value: unknown, baseDir: string): SourceConfig {
  const issues: SourceConfigIssue[] = [];
  const at = `sources.${slug}`;
  const issue = (path: string, message: string): void => void issues.push({ path, message });

  if (!SLUG.test(slug)) {
    issue(at, "a source's name is up to 63 of a-z, 0-9, - and _, and starts with a letter or digit");
  }
  if (!isRecord(value)) throw new SourceConfigError([...issues, { path: at, message: "must be a mapping" }]);

  const engine = NAMES.find((name) => name === value["engine"]);
  if (engine === undefined) {
    issue(`${at}.engine`, `must be one of ${NAMES.join(", ")}${nearest(value["engine"], NAMES)}`);
    throw new SourceConfigError(issues);
  }
  const { settings } = ENGINES[engine];
  const known = [...COMMON, ...settings.fields];
  for (const field of Object.keys(value)) {
    if (known.includes(field)) continue;
    const near = nearest(field, known);
    issue(`${at}.${field}`, `not a field of ${engine}${near || `; it takes ${known.join(", ")}`}`);
  }
  const kinds = settings.sandboxes ?? ["process"];
  const place = parseSandbox(value["sandbox"], `${at}.sandbox`, baseDir, kinds);
  issues.push(...place.issues);

  const common: SourceCommon = {
    slug,
    engine,
    sandbox: place.sandbox,
    checks: parseChecks(value["checks"], `${at}.checks`, issue),
    checkTimeout_s: parseTimeout(value["check_timeout_s"], `${at}.check_timeout_s`, issue),
  };
  const fields = new SourceFields(value, at, baseDir);
  const own = settings.parse(fields);
  issues.push(...fields.issues);
  if (issues.length > 0 || own === null) throw new SourceConfigError(issues);
  // An engine's settings belong to its name, which the compiler can't follow through the table.
  return { ...common, ...own } as SourceConfig;
}

function nearest(typed: unknown, names: readonly string[]): string {
  const near = typeof typed === "string" ? nearestName(typed, names) : null;
  return near === null ? "" : `; did you mean "${near}"?`;
}

type Report = (path: string, message: string) => void;

function parseChecks(value: unknown, at: string, issue: Report): CheckConfig[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    issue(at, "must be a list");
    return [];
  }
  if (value.length > MAX_CHECKS) issue(at, `at most ${MAX_CHECKS} checks`);
  const checks: CheckConfig[] = [];
  const seen = new Set<string>();
  for (const [index, item] of value.slice(0, MAX_CHECKS).entries()) {
    const here = `${at}[${index}]`;
    if (!isRecord(item)) {
      issue(here, "must be a mapping with id, query and expect");
      continue;
    }
    for (const field of Object.keys(item)) {
      if (field !== "id" && field !== "query" && field !== "expect") {
        issue(`${here}.${field}`, "not a field of a check; it takes id, query, expect");
      }
    }
    const id = text(item["id"], `${here}.id`, 63, issue);
    const query = text(item["query"], `${here}.query`, MAX_QUERY, issue);
    const expect = text(item["expect"], `${here}.expect`, MAX_EXPECT, issue);
    if (id === null || query === null || expect === null) continue;
    const mistake = mistakeIn(expect);
    if (mistake !== null) issue(`${here}.expect`, mistake);
    if (!CHECK_ID.test(id)) issue(`${here}.id`, "use a-z, 0-9, - and _, starting with a letter or digit");
    if (seen.has(id)) issue(`${here}.id`, `"${id}" is used twice`);
    seen.add(id);
    checks.push({ id, query, expect });
  }
  return checks;
}

function mistakeIn(expect: string): string | null {
  try {
    parseExpectation(expect);
    return null;
  } catch (error) {
    if (error instanceof ExpectationError) return error.message;
    throw error;
  }
}

function parseTimeout(value: unknown, at: string, issue: Report): number {
  if (value === undefined) return 60;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_TIMEOUT_S)
    return value;
  issue(at, `must be a whole number of seconds from 1 to ${MAX_TIMEOUT_S}`);
  return 60;
}

function text(value: unknown, at: string, max: number, issue: Report): string | null {
  if (typeof value !== "string" || value.trim() === "") {
    issue(at, "must be a non-empty text");
    return null;
  }
  if (value.length > max) {
    issue(at, `is longer than ${max} characters`);
    return null;
  }
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
