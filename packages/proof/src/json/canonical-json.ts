import { ProofError } from "../proof-error.ts";
import { isObject } from "./strict-json.ts";

const MAX_DEPTH = 64;

/**
 * Formats a JSON value by RFC 8785 (JCS). Throws `not_canonicalizable` for anything that JSON
 * cannot express: undefined (also as a member), NaN, infinities, bigint, functions, lone
 * surrogates, class instances, or more than 64 levels.
 */
export function canonicalJson(value: unknown): string {
  return serialize(value, 0);
}

function serialize(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) refuse(`more than ${MAX_DEPTH} levels`);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return string(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? JSON.stringify(value) : refuse(String(value));
  if (Array.isArray(value)) return `[${Array.from(value, (item) => serialize(item, depth + 1)).join(",")}]`;
  if (isPlainObject(value)) {
    // Section 3.2.3 requires UTF-16 code unit order, which is what sort() without a comparator
    // uses.
    const members = Object.keys(value)
      .sort()
      .map((key) => `${string(key)}:${serialize(value[key], depth + 1)}`);
    return `{${members.join(",")}}`;
  }
  return refuse(typeof value);
}

function string(text: string): string {
  return text.isWellFormed() ? JSON.stringify(text) : refuse("a lone surrogate");
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function refuse(what: string): never {
  throw new ProofError("not_canonicalizable", `${what} has no canonical JSON`);
}
