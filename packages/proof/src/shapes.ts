const SUFFIX = "[0-7][0-9a-hjkmnp-tv-z]{25}";
const ANY_TYPE_ID = new RegExp(`^[a-z]{2,16}_${SUFFIX}$`);

/** A TypeID: prefix, underscore, 26 characters of Crockford base32 in lower case, of at most 128 bits. */
export function isTypeId(value: unknown, prefix?: string): value is string {
  if (typeof value !== "string" || !ANY_TYPE_ID.test(value)) return false;
  return prefix === undefined || value.startsWith(`${prefix}_`);
}

/** RFC 3339, UTC, milliseconds and Z, of a moment that exists. */
export function isTimestamp(value: unknown): value is string {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
}

/** SHA-256 in lower-case hex. */
export function isSha256(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}
