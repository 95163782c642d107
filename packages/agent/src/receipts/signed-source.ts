import type { Identity } from "../engines/engine.ts";

/** A source as a backup's receipt describes it. */
export interface SignedSource {
  readonly slug: string;
  /** Null if the engine had nothing to tell. */
  readonly identity: Identity | null;
}

/**
 * `source` of a backup's metadata; null in receipts of versions that did not sign it, or if it is
 * malformed.
 */
export function signedSource(metadata: Readonly<Record<string, unknown>>): SignedSource | null {
  const { source } = metadata;
  if (typeof source !== "object" || source === null || !("slug" in source)) return null;
  const { slug } = source;
  if (typeof slug !== "string") return null;
  const identity = "identity" in source ? source.identity : null;
  return { slug, identity: isIdentity(identity) ? identity : null };
}

function isIdentity(value: unknown): value is Identity {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const values = Object.values(value);
  return values.length > 0 && values.every((each) => typeof each === "string");
}
