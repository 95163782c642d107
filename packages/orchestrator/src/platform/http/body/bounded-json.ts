import { invalidRequest } from "../../errors/api-error.ts";

export interface JsonBounds {
  /** As JSON in UTF-8. */
  bytes: number;
  /** Members of objects and elements of arrays, at every level. */
  values: number;
}

/**
 * Refuses a value in a request that is too large to store, list and compare: everybody's requests
 * wait while one agent's record is read.
 * @throws ApiError `invalid_request` that names the field
 */
export function requireWithin(field: string, value: object, { bytes, values }: JsonBounds): void {
  const found = { bytes: Buffer.byteLength(JSON.stringify(value)), values: countValues(value) };
  if (found.bytes <= bytes && found.values <= values) return;
  const message = `has ${found.bytes} bytes and ${found.values} values; at most ${bytes} bytes and ${values} values are kept`;
  throw invalidRequest(`${field} ${message}.`, [{ path: `/${field}`, message }]);
}

function countValues(value: object): number {
  let count = 0;
  const waiting: object[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const inner of Object.values(next) as unknown[]) {
      count += 1;
      if (typeof inner === "object" && inner !== null) waiting.push(inner);
    }
  return count;
}
