import { type Measured, measureBytes, measureText } from "./column-profiler.ts";

const DAY = /^\d{4}-\d\d-\d\d(?![\d-])/;
const MAX_TIME_CHARACTERS = 40;

/**
 * A value of a column or field whose values may be of any type. `bytes` is the whole length, where
 * `value` is only the start of a text.
 */
export function measureValue(
  value: string | number | bigint | boolean | Uint8Array | Date,
  bytes?: number,
): Measured {
  if (typeof value === "string") {
    const measured = measureText(value, bytes ?? Buffer.byteLength(value));
    // A time that somebody overwrites may become a text of another kind, so it is one, too.
    return value.length <= MAX_TIME_CHARACTERS && DAY.test(value)
      ? { ...measured, at_ms: Date.parse(value.slice(0, 10)) }
      : measured;
  }
  if (value instanceof Uint8Array) {
    const start = Buffer.from(value.buffer, value.byteOffset, Math.min(256, value.byteLength));
    return measureBytes(start.toString("hex"), bytes ?? value.byteLength);
  }
  if (value instanceof Date) return { value: String(value.getTime()), at_ms: value.getTime() };
  return { value: String(value) };
}
