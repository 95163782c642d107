import { fromUtf8 } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";

/** What JSON can say. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

const MAX_DEPTH = 64;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/**
 * JSON with one reading only: UTF-8, no member named twice in one object (which parsers resolve differently), no lone
 * surrogate, no number too large for a double, at most 64 levels. Throws `malformed_utf8` or `malformed_json`.
 */
export function parseJson(source: string | Uint8Array): Json {
  const text = typeof source === "string" ? source : fromUtf8(source);
  refuseDeepNesting(text);
  const value = parse(text);
  refuseDuplicateMembers(text);
  requireInterchangeable(value);
  return value;
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

/** Before anything recursive sees the text. Brackets inside strings are passed over as strings. */
function refuseDeepNesting(text: string): void {
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth > MAX_DEPTH) throw new ProofError("malformed_json", `more than ${MAX_DEPTH} levels of JSON`);
  }
}

/** For text already known to be JSON: in it, a string right before a colon is a member's name. */
function refuseDuplicateMembers(text: string): void {
  const open: Set<string>[] = [];
  let name = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token.startsWith('"')) name = token;
    else if (token === ":") {
      const seen = open.at(-1);
      const member: unknown = JSON.parse(name);
      if (typeof member !== "string" || seen === undefined || seen.has(member))
        throw new ProofError("malformed_json", `the member ${name} stands twice in one object`);
      seen.add(member);
    }
  }
}

function requireInterchangeable(value: Json): void {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new ProofError("malformed_json", "a number is too large");
  if (typeof value === "string" && !value.isWellFormed())
    throw new ProofError("malformed_json", "a string holds a lone surrogate");
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed()) throw new ProofError("malformed_json", "a member's name holds a lone surrogate");
    requireInterchangeable(member);
  }
}
