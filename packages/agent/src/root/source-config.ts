import { resolve } from "node:path";
import { ExpectationError, parseExpectation } from "../checks/index.ts";

/** What runs against the restored data: one row of `query`, held against `expect`. */
export interface CheckConfig {
  /** Lower-case letters, digits, `-` and `_`; unique within its source. */
  readonly id: string;
  /** SQL that gives one row. For `files`: a path inside the tree (`.` for all of it). */
  readonly query: string;
  /** An expression over the row's columns, such as `n >= 1000 and newest is not null`. */
  readonly expect: string;
}

interface SourceCommon {
  readonly slug: string;
  readonly sandbox: "process";
  readonly checks: readonly CheckConfig[];
  /** How long one check's query may run on the restored data. */
  readonly checkTimeout_s: number;
}

export interface PostgresqlSourceConfig extends SourceCommon {
  readonly engine: "postgresql";
  /** Where to connect. The secret itself is never in the configuration, only where it lies. */
  readonly connection: ConnectionReference;
}

export interface SqliteSourceConfig extends SourceCommon {
  readonly engine: "sqlite";
  /** Absolute. */
  readonly path: string;
}

export interface FilesSourceConfig extends SourceCommon {
  readonly engine: "files";
  /** Absolute; a directory. */
  readonly path: string;
}

export type SourceConfig = PostgresqlSourceConfig | SqliteSourceConfig | FilesSourceConfig;
export type EngineName = SourceConfig["engine"];

export type ConnectionReference =
  /** An environment variable that holds a `postgresql://` URL. */
  | { readonly kind: "env"; readonly name: string }
  /** A file whose first line is a `postgresql://` URL. Absolute. */
  | { readonly kind: "file"; readonly path: string }
  /** An entry of `pg_service.conf`. */
  | { readonly kind: "service"; readonly name: string }
  /** A `postgresql://` URL without a password (peer, trust, or PGPASSFILE). */
  | { readonly kind: "url"; readonly url: string };

export interface SourceConfigIssue {
  /** Such as `sources.orders-db.checks[0].expect`. */
  readonly path: string;
  readonly message: string;
}

/** The person who wrote the configuration can repair this. */
export class SourceConfigError extends Error {
  readonly code = "source_config_invalid";
  readonly issues: readonly SourceConfigIssue[];
  constructor(issues: readonly SourceConfigIssue[]) {
    super(issues.map((issue) => `${issue.path}: ${issue.message}`).join("\n"));
    this.name = "SourceConfigError";
    this.issues = issues;
  }
}

export const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const CHECK_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const MAX_QUERY = 16_384;
const MAX_EXPECT = 500;
const MAX_CHECKS = 100;
const MAX_TIMEOUT_S = 24 * 3600;

const FIELDS: Record<EngineName, readonly string[]> = {
  postgresql: ["engine", "connection", "sandbox", "checks", "check_timeout_s"],
  sqlite: ["engine", "path", "sandbox", "checks", "check_timeout_s"],
  files: ["engine", "path", "sandbox", "checks", "check_timeout_s"],
};

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

  const engine = value["engine"];
  if (engine !== "postgresql" && engine !== "sqlite" && engine !== "files") {
    issue(`${at}.engine`, "must be postgresql, sqlite or files");
    throw new SourceConfigError(issues);
  }
  for (const field of Object.keys(value)) {
    if (!FIELDS[engine].includes(field)) {
      issue(`${at}.${field}`, `not a field of ${engine}; it takes ${FIELDS[engine].join(", ")}`);
    }
  }
  if ((value["sandbox"] ?? "process") !== "process") issue(`${at}.sandbox`, "must be process");

  const common: SourceCommon = {
    slug,
    sandbox: "process",
    checks: parseChecks(value["checks"], `${at}.checks`, issue),
    checkTimeout_s: parseTimeout(value["check_timeout_s"], `${at}.check_timeout_s`, issue),
  };

  if (engine === "postgresql") {
    const connection = parseConnection(value["connection"], `${at}.connection`, baseDir, issue);
    if (issues.length > 0 || connection === null) throw new SourceConfigError(issues);
    return { ...common, engine, connection };
  }
  const path = value["path"];
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    issue(`${at}.path`, engine === "sqlite" ? "must name the database file" : "must name a directory");
    throw new SourceConfigError(issues);
  }
  if (issues.length > 0) throw new SourceConfigError(issues);
  return { ...common, engine, path: resolve(baseDir, path) };
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

function parseConnection(
  value: unknown,
  at: string,
  baseDir: string,
  issue: Report,
): ConnectionReference | null {
  const forms = "env:NAME, file:PATH, service:NAME, or a postgresql:// URL without a password";
  if (typeof value !== "string") {
    issue(at, `must be ${forms}`);
    return null;
  }
  const [, kind, rest] = /^(env|file|service):(.+)$/s.exec(value) ?? [];
  if (kind === "env" && rest !== undefined) {
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) return { kind, name: rest };
    issue(at, "env: takes the name of an environment variable");
    return null;
  }
  if (kind === "file" && rest !== undefined) return { kind, path: resolve(baseDir, rest) };
  if (kind === "service" && rest !== undefined) {
    if (/^[A-Za-z0-9_.-]+$/.test(rest)) return { kind, name: rest };
    issue(at, "service: takes the name of a section in pg_service.conf");
    return null;
  }
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    issue(at, `must be ${forms}`);
    return null;
  }
  const url = new URL(value);
  // The value itself is not repeated in the message: it holds a password.
  if (url.password !== "" || url.searchParams.has("password")) {
    issue(
      at,
      "must not hold a password: put the URL into an environment variable or a file and name it (env:NAME, file:PATH)",
    );
    return null;
  }
  return { kind: "url", url: value };
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
