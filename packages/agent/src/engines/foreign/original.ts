import type { ForeignMetadata } from "../engine.ts";

/** What a backup's metadata say about the backup that it refers to. We received the metadata. */
export function originalOf(metadata: ForeignMetadata): Readonly<Record<string, unknown>> {
  const { original } = metadata;
  return typeof original === "object" && original !== null ? (original as Record<string, unknown>) : {};
}
