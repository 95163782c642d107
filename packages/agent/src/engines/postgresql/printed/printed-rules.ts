import type { Group, Part } from "./sql-words.ts";

/**
 * PostgreSQL prints an expression differently once it has read back its own output. Each rule is
 * one such difference, as its parser makes it. An expression means the same before and after a
 * rule. The regression tests of PostgreSQL 15 create no other differences.
 */
export const PRINTED_RULES: readonly ((parts: readonly Part[]) => readonly Part[])[] = [
  castOfElements,
  firstOperands,
  columnsOwnName,
  joinOnTrue,
];

/** `(ARRAY[a, b])::text[]` is read as `ARRAY[(a)::text, (b)::text]`. */
export function castOfElements(parts: readonly Part[]): readonly Part[] {
  const result: Part[] = [];
  let next = 0;
  for (const [at, part] of parts.entries()) {
    if (at < next) continue;
    next = at + 1;
    const type = parts[next] === "::" ? typeAt(parts, at + 2) : null;
    const [, array] = type?.isArray === true ? arrayOf(part) : [];
    if (type === null || array === undefined) {
      result.push(part);
      continue;
    }
    result.push("ARRAY", castEach(array, type.name));
    next = type.end;
  }
  return result;
}

function arrayOf(part: Part): readonly [] | readonly ["ARRAY", Group] {
  if (typeof part === "string" || part.open !== "(" || part.parts.length !== 2) return [];
  const [word, elements] = part.parts;
  const isArray = word === "ARRAY" && typeof elements === "object" && elements.open === "[";
  return isArray ? [word, elements] : [];
}

function castEach({ parts }: Group, type: readonly Part[]): Group {
  const elements = listOf(parts).map((element): readonly Part[] => {
    const [first, second] = element;
    if (element.length === 2 && first === "ARRAY" && typeof second === "object")
      return [first, castEach(second, type)];
    return [{ open: "(", parts: element }, "::", ...type];
  });
  return { open: "[", parts: elements.flatMap((each, index) => (index === 0 ? each : [",", ...each])) };
}

function listOf(parts: readonly Part[]): readonly (readonly Part[])[] {
  let last: Part[] = [];
  const list = [last];
  for (const part of parts) {
    if (part === ",") list.push((last = []));
    else last.push(part);
  }
  return list;
}

/** `((a AND b) AND c)` is read as `(a AND b AND c)`. */
export function firstOperands(parts: readonly Part[]): readonly Part[] {
  const [first, word] = parts;
  if (typeof first !== "object" || first.open !== "(") return parts;
  const connective = connectiveOf(parts);
  if (connective === null || word !== connective || connectiveOf(first.parts) !== connective) return parts;
  return [...first.parts, ...parts.slice(1)];
}

/** The word between all operands of a logical expression; null if it is none. */
function connectiveOf(parts: readonly Part[]): "AND" | "OR" | null {
  const words = new Set(parts.filter((part) => part === "AND" || part === "OR" || part === "BETWEEN"));
  const [only] = words;
  return words.size === 1 && (only === "AND" || only === "OR") ? only : null;
}

/** `'a'::text` in a list of columns is read as `'a'::text AS text`. */
export function columnsOwnName(parts: readonly Part[]): readonly Part[] {
  const result: Part[] = [];
  let next = 0;
  for (const [at, part] of parts.entries()) {
    if (at < next) continue;
    result.push(part);
    const type = part === "::" ? typeAt(parts, at + 1) : null;
    if (type === null) continue;
    result.push(...parts.slice(at + 1, type.end));
    const name = parts[type.end + 1];
    const isOwn = parts[type.end] === "AS" && name !== undefined && name === columnOf(type.name);
    next = isOwn ? type.end + 2 : type.end;
  }
  return result;
}

/** `JOIN t ON TRUE`, of a natural join without a common column, is read as `JOIN t ON (true)`. */
export function joinOnTrue(parts: readonly Part[]): readonly Part[] {
  return parts.map((part, at) =>
    part === "TRUE" && parts[at - 1] === "ON" ? { open: "(", parts: ["true"] } : part,
  );
}

/** The second word of a type's name, by the first. */
const SECOND_WORDS: ReadonlyMap<string, string> = new Map([
  ["character", "varying"],
  ["bit", "varying"],
  ["double", "precision"],
]);
const ZONES: ReadonlySet<Part | undefined> = new Set(["with", "without"]);

interface PrintedType {
  /** Without the brackets of an array. */
  readonly name: readonly Part[];
  readonly isArray: boolean;
  /** The place of the first part after it. */
  readonly end: number;
}

/** The type that is printed from `start` on; null if none is. */
function typeAt(parts: readonly Part[], start: number): PrintedType | null {
  let at = start;
  const first = parts[at];
  if (typeof first !== "string" || !/^["A-Za-z_\u0080-\uffff]/.test(first)) return null;
  at++;
  while (parts[at] === "." && typeof parts[at + 1] === "string") at += 2;
  if (at < parts.length && SECOND_WORDS.get(first) === parts[at]) at++;
  const limit = parts[at];
  if (typeof limit === "object" && limit.open === "(") at++;
  if ((first === "time" || first === "timestamp") && ZONES.has(parts[at])) at += 3;
  const name = parts.slice(start, at);
  const brackets = parts[at];
  const isArray = typeof brackets === "object" && brackets.open === "[" && brackets.parts.length === 0;
  return { name, isArray, end: isArray ? at + 1 : at };
}

/** The parser's names for SQL types, as they are printed in a list of columns. */
const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ["bigint", "int8"],
  ["bit", '"bit"'],
  ["bit varying", "varbit"],
  ["boolean", "bool"],
  ["character", "bpchar"],
  ["character varying", '"varchar"'],
  ["double precision", "float8"],
  ["integer", "int4"],
  ["interval", '"interval"'],
  ["numeric", '"numeric"'],
  ["real", "float4"],
  ["smallint", "int2"],
  ["time with time zone", "timetz"],
  ["time without time zone", '"time"'],
  ["timestamp with time zone", "timestamptz"],
  ["timestamp without time zone", '"timestamp"'],
]);

/** The name of a column of that type that nobody named. */
function columnOf(type: readonly Part[]): Part | undefined {
  const words = type.filter((part) => typeof part === "string");
  return OWN_NAMES.get(words.join(" ")) ?? words.at(-1);
}
