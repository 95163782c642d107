import { formatBytes, plainLine } from "@attestore/proof";

/**
 * What a backup refers to, if another program made it: its file with the time when that was
 * written, or its snapshot with the host that made it. Null for a backup of ours.
 */
export function originalText(original: unknown): string | null {
  if (typeof original !== "object" || original === null) return null;
  const { kind, name, size_bytes, modified_at, snapshot_id, snapshot_at, hostname } = original as Record<
    string,
    unknown
  >;
  if (kind === "file" && typeof name === "string" && typeof modified_at === "string")
    return `${plainLine(name)} of ${modified_at}, ${formatBytes(Number(size_bytes))}`;
  if (kind !== "restic" || typeof snapshot_id !== "string" || typeof snapshot_at !== "string") return null;
  const host = typeof hostname === "string" && hostname !== "" ? ` of the host ${plainLine(hostname)}` : "";
  return `the snapshot ${snapshot_id.slice(0, 8)}${host}, of ${snapshot_at}`;
}
