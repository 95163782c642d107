import type { Observation, Value } from "./row.ts";

const MAX_TEXT = 120;
const MAX_JSON = 1_024;
const ERROR = "error";

/**
 * A row as JSON for the receipt: what the check selected, and no more than about a kilobyte of it. Numbers are JSON
 * numbers where that is exact, else texts. Why the check failed stands in `error`; a column of that name then gives way.
 */
export function observedRecord(row: Observation, error: string | null): Record<string, unknown> {
  const observed: Record<string, unknown> = error === null ? {} : { [ERROR]: error };
  let length = 2;
  for (const [index, column] of row.entries()) {
    const name = shorten(column.name);
    const json = jsonOf(column.value);
    length += JSON.stringify(name).length + JSON.stringify(json).length + 2;
    if (length > MAX_JSON) {
      observed["…"] = `${row.length - index} columns more`;
      break;
    }
    // A column may have any name, `__proto__` too; two long names may become one when they are cut.
    if (!Object.hasOwn(observed, name)) define(observed, name, json);
  }
  return observed;
}

function define(observed: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(observed, name, { value, enumerable: true, configurable: true, writable: true });
}

function jsonOf(value: Value): unknown {
  switch (value.kind) {
    case "null":
      return null;
    case "boolean":
      return value.value;
    case "number": {
      const number = Number(value.text);
      const isExact =
        (Number.isSafeInteger(number) || !Number.isInteger(number)) && String(number) === value.text;
      return isExact ? number : shorten(value.text);
    }
    case "text":
      return shorten(value.value);
    case "json":
      return shorten(value.text);
  }
}

/** Well-formed, too: what is signed is canonical JSON, in which a lone surrogate has no place. */
function shorten(text: string): string {
  return (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`).toWellFormed();
}
