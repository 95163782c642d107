import { ProofError, type ProofErrorCode } from "../proof-error.ts";
import { isObject } from "./strict-json.ts";

/** A problem at one place. `path` is a JSON Pointer (RFC 6901), empty for the whole value. */
export interface Issue {
  path: string;
  message: string;
}

/**
 * An issue, and whether it may only mean a later version of the format: an unknown member or name.
 */
interface Problem extends Issue {
  unknown?: "member" | "name";
}

/** Adds an issue for each way in which a value does not match the shape. */
export type Shape = (value: unknown, path: string, issues: Problem[]) => void;

const MAX_ISSUES = 50;

export function issuesOf(value: unknown, shape: Shape): Issue[] {
  return sortedIssues(value, shape).all;
}

/**
 * The issues, and separately what a later version may have added. `all` includes unknown members
 * and names too.
 */
export function sortedIssues(
  value: unknown,
  shape: Shape,
): Record<"all" | "wrong" | "unknownNames" | "unknownMembers", Issue[]> {
  const problems: Problem[] = [];
  shape(value, "", problems);
  // Sort before truncating, so that many unknown members cannot hide a wrong one.
  const issues = (which: (problem: Problem) => boolean): Issue[] =>
    problems
      .filter(which)
      .slice(0, MAX_ISSUES)
      .map(({ path, message }) => ({ path, message }));
  return {
    all: issues(() => true),
    wrong: issues(({ unknown }) => unknown === undefined),
    unknownNames: issues(({ unknown }) => unknown === "name"),
    unknownMembers: issues(({ unknown }) => unknown === "member"),
  };
}

/** Throws an error with `code` and the first issue. */
export function requireShape(value: unknown, shape: Shape, code: ProofErrorCode, what: string): void {
  throwFirst(issuesOf(value, shape), code, what);
}

/**
 * Like the strict form, but ignores unknown members, as a verifier must that is older than its
 * input. Throws `unknown_version` if the only problem is an unknown name or version.
 */
export function requireKnownShape(value: unknown, shape: Shape, code: ProofErrorCode, what: string): void {
  const { wrong, unknownNames } = sortedIssues(value, shape);
  throwFirst(wrong, code, what);
  const [unknown] = unknownNames;
  if (unknown)
    throw new ProofError(
      "unknown_version",
      `${what} has a version that is unknown here: ${unknown.path} ${unknown.message}`,
    );
}

function throwFirst([issue]: readonly Issue[], code: ProofErrorCode, what: string): void {
  if (issue)
    throw new ProofError(code, `${what} is malformed: ${issue.path ? `${issue.path} ` : ""}${issue.message}`);
}

/** `message` continues the path: "is not …". */
export function matching(test: (value: unknown) => boolean, message: string): Shape {
  return (value, path, issues) => {
    if (!test(value)) issues.push({ path, message });
  };
}

export const nonEmptyText = matching(
  (value) => typeof value === "string" && value !== "",
  "is not a non-empty string",
);
export const wholeNumber = matching(
  (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
  "is not a whole number from 0 to 2^53 - 1",
);
export const anyObject = matching(isObject, "is not an object");

export function oneOf(...allowed: readonly (string | number)[]): Shape {
  const names = allowed.map((value) => JSON.stringify(value)).join(" or ");
  return (value, path, issues) => {
    if ((allowed as readonly unknown[]).includes(value)) return;
    const isName = typeof value === "string" && value !== "" && typeof allowed[0] === "string";
    const unknown = isName || isLaterThan(value, allowed) ? { unknown: "name" as const } : {};
    issues.push({ path, message: `is not ${names}`, ...unknown });
  };
}

/** Format versions: whole numbers that only grow. */
function isLaterThan(value: unknown, versions: readonly (string | number)[]): boolean {
  return (
    Number.isSafeInteger(value) &&
    versions.every((known) => typeof known === "number" && known < Number(value))
  );
}

export function nullOr(shape: Shape): Shape {
  return (value, path, issues) => {
    if (value !== null) shape(value, path, issues);
  };
}

export function listOf(item: Shape, count: { min?: number; max?: number } = {}): Shape {
  const { min = 0, max = 4096 } = count;
  return (value, path, issues) => {
    if (!Array.isArray(value)) issues.push({ path, message: "is not an array" });
    else if (value.length < min || value.length > max)
      issues.push({
        path,
        message: min === max ? `does not have exactly ${min} item` : `does not have ${min} to ${max} items`,
      });
    else value.forEach((each, i) => item(each, `${path}/${i}`, issues));
  };
}

/**
 * An object with these members. `open` allows others; otherwise each unknown member is an issue.
 */
export function members(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
  open = false,
): Shape {
  const names = Object.keys(required);
  const known = new Map(
    Object.entries({ ...required, ...optional }).map(([name, shape]) => [
      name,
      { shape, token: token(name) },
    ]),
  );
  return (value, path, issues) => {
    if (!isObject(value)) return void issues.push({ path, message: "is not an object" });
    for (const name of names)
      if (!Object.hasOwn(value, name)) issues.push({ path: path + token(name), message: "is missing" });
    for (const name of Object.keys(value)) {
      const member = known.get(name);
      if (member) member.shape(value[name], path + member.token, issues);
      else if (!open)
        issues.push({ path: path + token(name), message: "is not a known field", unknown: "member" });
    }
  };
}

/** RFC 6901 section 3. */
function token(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
