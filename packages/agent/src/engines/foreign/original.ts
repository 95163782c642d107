import type { ForeignMetadata } from "../engine.ts";

/** What a backup's metadata says of the backup that it refers to. It came over the wire. */
export function originalOf(metadata: ForeignMetadata): Readonly<Record<string, unknown>> {
  const { original } = metadata;
  return typeof original === "object" && original !== null ? (original as Record<string, unknown>) : {};
}
