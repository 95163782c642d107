import { ExpectationError } from "../checks/expectation/expectation-error.ts";
import { parseExpectation } from "../checks/expectation/parse.ts";
import type { CheckConfig } from "../checks/evaluation/check-config.ts";
import { type SourceConfigIssue, SourceFields } from "./source-fields.ts";

const ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const MAX_QUERY = 16_384;
const MAX_EXPECT = 500;
const MAX_ARGUMENTS = 64;
export const MAX_CHECKS = 100;

/** The fields of the three kinds, by the field that only they have. */
export const CHECK_FIELDS = {
  command: ["id", "command", "expect"],
  canary: ["id", "query", "canary"],
  query: ["id", "query", "expect"],
} as const;

interface Parsed {
  readonly checks: readonly CheckConfig[];
  readonly issues: readonly SourceConfigIssue[];
}

/** `checks:` of a source, at the path `at`. If there is any issue, the checks must not be used. */
export function parseChecks(value: unknown, at: string, baseDir: string): Parsed {
  if (value === undefined || value === null) return { checks: [], issues: [] };
  if (!Array.isArray(value)) return { checks: [], issues: [{ path: at, message: "must be a list" }] };
  const issues: SourceConfigIssue[] = [];
  if (value.length > MAX_CHECKS) issues.push({ path: at, message: `at most ${MAX_CHECKS} checks` });
  const checks: CheckConfig[] = [];
  const seen = new Set<string>();
  for (const [index, item] of value.slice(0, MAX_CHECKS).entries()) {
    const here = `${at}[${index}]`;
    if (typeof item !== "object" || item === null || Array.isArray(item)) {
      issues.push({ path: here, message: "must be a mapping with id, query and expect" });
      continue;
    }
    const fields = new SourceFields(item as Record<string, unknown>, here, baseDir);
    const check = parseCheck(item as Record<string, unknown>, fields);
    if (check !== null && seen.has(check.id)) fields.issue("id", `"${check.id}" is used twice`);
    if (check !== null) {
      seen.add(check.id);
      checks.push(check);
    }
    issues.push(...fields.issues);
  }
  return { checks, issues };
}

function parseCheck(item: Record<string, unknown>, fields: SourceFields): CheckConfig | null {
  const kind = fields.has("command") ? "command" : fields.has("canary") ? "canary" : "query";
  const known: readonly string[] = CHECK_FIELDS[kind];
  for (const field of Object.keys(item)) {
    if (!known.includes(field))
      fields.issue(field, `not a field of this kind of check; its fields are ${known.join(", ")}`);
  }
  const id = text(item, "id", 63, fields);
  if (id !== null && !ID.test(id))
    fields.issue("id", "use a-z, 0-9, - and _, starting with a letter or digit");
  if (kind === "canary") {
    const [query, canary] = [text(item, "query", MAX_QUERY, fields), fields.secret("canary")];
    return id === null || query === null || canary === null ? null : { id, query, canary };
  }
  const expect = text(item, "expect", MAX_EXPECT, fields);
  const mistake = expect === null ? null : mistakeIn(expect);
  if (mistake !== null) fields.issue("expect", mistake);
  if (kind === "command") {
    const command = commandOf(item["command"], fields);
    return id === null || command === null || expect === null ? null : { id, command, expect };
  }
  const query = text(item, "query", MAX_QUERY, fields);
  return id === null || query === null || expect === null ? null : { id, query, expect };
}

function commandOf(value: unknown, fields: SourceFields): string[] | null {
  const words = typeof value === "string" ? [value] : value;
  const isCommand =
    Array.isArray(words) &&
    words.length > 0 &&
    words.length <= MAX_ARGUMENTS &&
    words.every((word) => typeof word === "string" && word.length <= 4096 && !word.includes("\0")) &&
    words[0] !== "";
  if (isCommand) return words as string[];
  return fields.issue(
    "command",
    'must be a program with its arguments, such as ["/usr/local/bin/check-orders", "--strict"]; no shell reads it',
  );
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

/** May have several lines. */
function text(item: Record<string, unknown>, name: string, max: number, fields: SourceFields): string | null {
  const value = item[name];
  if (typeof value !== "string" || value.trim() === "") return fields.issue(name, "must be a non-empty text");
  return value.length > max ? fields.issue(name, `is longer than ${max} characters`) : value;
}
