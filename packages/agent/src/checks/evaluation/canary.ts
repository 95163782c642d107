import { timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type CheckOutcome, sha256, utf8 } from "@attestore/proof";
import type { SecretReference } from "../../secrets/secret-reference.ts";
import type { CanaryCheckConfig } from "./check-config.ts";
import { entryOf } from "./evaluate-check.ts";
import { notInTime } from "./not-in-time.ts";
import type { QueryOutcome } from "./query-outcome.ts";
import { MalformedRow, type Observation, parseRow } from "../values/row.ts";

/** Shorter ones can be guessed, and can occur in a row by chance. */
const MIN_BYTES = 16;
const MAX_BYTES = 4_096;
const EXPECTATION = "the one value of the row is the canary, byte for byte";

/** The person who keeps the secret can fix this. The message never contains it. */
export class CanaryError extends Error {
  readonly code = "canary_unusable";
  constructor(message: string) {
    super(message);
    this.name = "CanaryError";
  }
}

/** A secret whose bytes only the database sees. Neither printing nor JSON shows it. */
export class Canary {
  readonly #text: string;

  /** @throws CanaryError */
  constructor(text: string, from: string) {
    const { length } = utf8(text);
    if (length < MIN_BYTES || length > MAX_BYTES || !text.isWellFormed())
      throw new CanaryError(`the canary in ${from} must have ${MIN_BYTES} to ${MAX_BYTES} bytes of UTF-8`);
    this.#text = text;
  }

  /** Whether a text contains it, as it is or in the form of JSON, `bytea` or `hex()`. */
  isIn(text: string): boolean {
    const written = JSON.stringify(this.#text).slice(1, -1);
    const forms = [this.#text, written, this.#hex(), this.#hex().toUpperCase()];
    return forms.some((form) => text.includes(form));
  }

  /** Byte for byte, in constant time. A `bytea` comes as `\x` and hex. */
  is(value: string): boolean {
    const seen = sha256(utf8(value));
    const isText = timingSafeEqual(seen, sha256(utf8(this.#text)));
    const isBytes = timingSafeEqual(seen, sha256(utf8(`\\x${this.#hex()}`)));
    return isText || isBytes;
  }

  #hex(): string {
    return Buffer.from(this.#text).toString("hex");
  }
}

/**
 * From an environment variable, or the first line of a file, exactly as written, including spaces.
 * @throws CanaryError
 */
export async function readCanary(reference: SecretReference): Promise<Canary> {
  if (reference.kind === "env") {
    const from = `the environment variable ${reference.name}`;
    const value = process.env[reference.name];
    if (value === undefined) throw new CanaryError(`${from} is not set: put the canary there`);
    return new Canary(value, from);
  }
  const text = await readFile(reference.path, "utf8").catch(() => {
    throw new CanaryError(`${reference.path} cannot be read: put the canary there`);
  });
  return new Canary(/^[^\r\n]*/.exec(text)?.[0] ?? "", reference.path);
}

/** The check as it is in a receipt: whether it held, and nothing of the output. */
export function evaluateCanary(
  { id, query }: CanaryCheckConfig,
  canary: Canary,
  outcome: QueryOutcome,
  duration_ms: number,
): CheckOutcome {
  const definition = { id, query, canary: true } as const;
  const trouble = troubleWith(outcome, canary);
  return entryOf(
    definition,
    EXPECTATION,
    {
      passed: trouble === null,
      observed: { canary: trouble === null ? "held" : "not held", ...(trouble ? { error: trouble } : {}) },
    },
    duration_ms,
  );
}

/** Null if it held. Leaves out the database's own message, which may quote its input. */
function troubleWith(outcome: QueryOutcome, canary: Canary): string | null {
  if (outcome.kind === "timeout") return notInTime("query", outcome.after_s);
  if (outcome.kind === "error")
    return `the query failed${outcome.sqlstate === undefined ? "" : ` (SQLSTATE ${outcome.sqlstate})`}`;
  const [text, second] = outcome.rows;
  if (text === undefined) return "the query returned no row";
  if (second !== undefined) return "the query returned more than one row";
  let row: Observation;
  try {
    row = parseRow(text);
  } catch (error) {
    if (error instanceof MalformedRow) return "the row cannot be read";
    throw error;
  }
  const [column] = row;
  if (column === undefined || row.length > 1)
    return `the row has ${row.length} columns: select the canary alone`;
  if (column.value.kind === "null") return "the value is NULL";
  if (column.value.kind !== "text") return "the value is not text";
  return canary.is(column.value.value) ? null : "the value is different";
}

/**
 * A check's outcome, without anything observed if that contains a canary: a query may select its
 * column by mistake. `seen` is everything that the database returned; a receipt may show only a
 * part of it.
 */
export function withoutCanaries(
  outcome: CheckOutcome,
  seen: readonly string[],
  canaries: readonly Canary[],
): CheckOutcome {
  const texts = [JSON.stringify(outcome), ...seen.flatMap((text) => [text, plainJson(text)])];
  if (!canaries.some((canary) => texts.some((text) => canary.isIn(text)))) return outcome;
  return { ...outcome, observed: { withheld: "the observed values contain a canary" } };
}

/** In one form, whatever escapes were used; the text itself if it is not JSON. */
function plainJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
