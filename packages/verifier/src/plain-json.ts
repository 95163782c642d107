import { plainText } from "@attestore/proof";

/** Formats JSON with unsafe characters as JSON escapes, which keep its meaning. */
export function plainJson(value: unknown): string {
  return plainText(JSON.stringify(value, null, 2));
}
