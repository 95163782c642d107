import { ProofError, type ProofErrorCode } from "../proof-error.ts";
import { isObject } from "./strict-json.ts";

/** Something wrong at a place; `path` is a JSON Pointer (RFC 6901), empty for the whole. */
export interface Issue {
  path: string;
  message: string;
}

/** Adds an issue for each way in which a value is not of this shape. */
export type Shape = (value: unknown, path: string, issues: Issue[]) => void;

const MAX_ISSUES = 50;

export function issuesOf(value: unknown, shape: Shape): Issue[] {
  const issues: Issue[] = [];
  shape(value, "", issues);
  return issues.slice(0, MAX_ISSUES);
}

/** Throws `code` with the first issue. */
export function requireShape(value: unknown, shape: Shape, code: ProofErrorCode, what: string): void {
  const [issue] = issuesOf(value, shape);
  if (issue)
    throw new ProofError(code, `${what} is malformed: ${issue.path ? `${issue.path} ` : ""}${issue.message}`);
}

/** `message` reads on after a path: "is not …". */
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
  return matching((value) => (allowed as readonly unknown[]).includes(value), `is not ${names}`);
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

/** An object with these members. `open` lets others pass; else each is an issue. */
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
      else if (!open) issues.push({ path: path + token(name), message: "is not a known field" });
    }
  };
}

/** RFC 6901 section 3. */
function token(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
