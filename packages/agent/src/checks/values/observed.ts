import { createHash } from "node:crypto";
import { clip, startOf } from "../clip.ts";
import type { Observation, Value } from "./row.ts";

const MAX_TEXT = 256;
const MAX_ERROR = 400;
const MAX_BYTES = 1_024;

/**
 * A row as a receipt records it, in a kilobyte: its columns, and under `error` why the check failed
 * if that is more than an unmet expectation.
 * Null, booleans, texts up to 256 characters, and whole numbers within ±(2^53 - 1) are recorded as
 * they are. Any other number is `{"number": "12.50"}`, in the database's own digits, and an object
 * or array `{"json": "[1,2]"}`; a longer value is cut, as in `{"text": its start, "length",
 * "sha256" of its UTF-8}`. Columns without room are counted under `…`. A column that is itself
 * called `error` or `…` is in double quotes. Comparisons saw the whole row: only the record is cut.
 */
export function observedRecord(row: Observation, error: string | null): Record<string, unknown> {
  const members: [string, unknown][] = error === null ? [] : [["error", clip(error, MAX_ERROR)]];
  let bytes = 0;
  for (const [index, { name, value }] of row.entries()) {
    const member: [string, unknown] = [memberName(name), recorded(value)];
    bytes += Buffer.byteLength(JSON.stringify(member));
    if (bytes > MAX_BYTES) {
      members.push(["…", `no space for ${row.length - index} of ${row.length} columns`]);
      break;
    }
    members.push(member);
  }
  // Unlike an assignment, this treats a column called `__proto__` as a column.
  return Object.fromEntries(members);
}

function memberName(column: string): string {
  const name = column.length <= MAX_TEXT ? column : `${startOf(column, MAX_TEXT)}… ${digest(column)}`;
  return /^"*(?:error|…)"*$/.test(name) ? `"${name}"` : name;
}

function recorded(value: Value): unknown {
  switch (value.kind) {
    case "null":
      return null;
    case "boolean":
      return value.value;
    case "number": {
      const isWhole = /^(?:0|-?[1-9]\d{0,15})$/.test(value.text);
      const isExact = isWhole && Number.isSafeInteger(Number(value.text));
      return isExact ? Number(value.text) : bounded("number", value.text);
    }
    case "text":
      return value.value.length <= MAX_TEXT ? value.value : bounded("text", value.value);
    case "json":
      return bounded("json", value.text);
  }
}

function bounded(kind: "number" | "text" | "json", text: string): Record<string, unknown> {
  if (text.length <= MAX_TEXT) return { [kind]: text };
  return { [kind]: startOf(text, MAX_TEXT), length: text.length, sha256: digest(text) };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
