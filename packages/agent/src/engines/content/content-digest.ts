import { createHash } from "node:crypto";

/** SHA-256 in hex over lines of the JSON array `["name","tag"]`, sorted by code units. */
export function contentDigest(tags: readonly (readonly [name: string, tag: string])[]): string {
  const lines = tags.map((pair) => JSON.stringify(pair)).toSorted();
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}
