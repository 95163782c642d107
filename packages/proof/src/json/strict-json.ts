import { fromUtf8 } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";

/** Every value that JSON can express. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

const MAX_DEPTH = 64;
const [QUOTE, BACKSLASH, COLON, COMMA, OPEN, OPEN_LIST] = [0x22, 0x5c, 0x3a, 0x2c, 0x7b, 0x5b];
/** Above this length, a text has at most a value for each so many characters more. */
const FREE_LENGTH = 4 * 1024 * 1024;
const LENGTH_OF_VALUE = 16;

/**
 * Parses JSON that has only one reading: UTF-8, no duplicate members (parsers resolve those
 * differently), no lone surrogates, no number too large for a double, at most 64 levels. Throws
 * `malformed_utf8` or `malformed_json`, also for megabytes of values that are almost nothing: they
 * take forty times as much memory as text.
 */
export function parseJson(source: string | Uint8Array): Json {
  const text = typeof source === "string" ? source : fromUtf8(source);
  if (hasTooManyValues(text)) throw new ProofError("malformed_json", "it has too many values for its length");
  const value = parse(text);
  const members = countMembers(value, 0);
  // Fast path: text that serializes back to itself has no duplicate members. All our own texts pass
  // here.
  if (JSON.stringify(value) === text) return value;
  if (hasRepeatedMember(text, members))
    throw new ProofError("malformed_json", "an object has the same member twice");
  return value;
}

/**
 * Whether an object in this valid JSON has the same member twice, if what was parsed from it has
 * `members` in all. The parser keeps one of two, so fewer members are left than colons.
 */
export function hasRepeatedMember(text: string, members: number): boolean {
  return members !== countColons(text);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new ProofError("malformed_json", "not JSON");
  }
}

function hasTooManyValues(text: string): boolean {
  if (text.length <= FREE_LENGTH) return false;
  let left = (FREE_LENGTH + text.length) / LENGTH_OF_VALUE;
  return someOutsideStrings(text, (code) => {
    if (code === COMMA || code === OPEN || code === OPEN_LIST) left -= 1;
    return left < 0;
  });
}

/** Counts the colons outside strings, one per member. `text` must be valid JSON. */
function countColons(text: string): number {
  let colons = 0;
  someOutsideStrings(text, (code) => {
    if (code === COLON) colons += 1;
    return false;
  });
  return colons;
}

/** Whether a character code outside strings is such a one. */
function someOutsideStrings(text: string, isOne: (code: number) => boolean): boolean {
  let isInString = false;
  // Written by hand: a regular expression overflows its stack on a string with millions of escapes.
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (code === BACKSLASH) at += 1;
    else if (!isInString && isOne(code)) return true;
  }
  return false;
}

/**
 * Counts the members of all objects, and throws for values that JSON can spell but not every parser
 * can read.
 */
function countMembers(value: Json, depth: number): number {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new ProofError("malformed_json", "a number is too large");
  if (typeof value === "string" && !value.isWellFormed())
    throw new ProofError("malformed_json", "a string contains a lone surrogate");
  if (typeof value !== "object" || value === null) return 0;
  if (depth === MAX_DEPTH) throw new ProofError("malformed_json", `more than ${MAX_DEPTH} levels of JSON`);
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item, depth + 1);
    return members;
  }
  for (const name of Object.keys(value)) {
    if (!name.isWellFormed())
      throw new ProofError("malformed_json", "a member's name contains a lone surrogate");
    members += 1 + countMembers(value[name] ?? null, depth + 1);
  }
  return members;
}
