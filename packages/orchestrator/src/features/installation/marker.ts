/**
 * The marker beside the objects: which installation they belong to, and the state of its logs when
 * it was last seen.
 */
export interface Marker {
  installationId: string;
  /** For each organisation's log: the size and root that the database had. */
  heads: Map<string, LogHead>;
  /**
   * The newest signed head of each log, by the log's name. Never goes back, whoever adopts the
   * objects.
   */
  signed: Map<string, LogHead>;
}

export interface LogHead {
  size: number;
  /** 32 bytes in lower-case hex. */
  root: string;
}

export const MARKER = "installation.json";
const VERSION = 1;
const ROOT = /^[0-9a-f]{64}$/;

export function printMarker({ installationId, heads, signed }: Marker): string {
  const sorted = (map: Map<string, LogHead>): Record<string, [number, string]> =>
    Object.fromEntries(
      [...map].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, { size, root }]) => [name, [size, root]]),
    );
  return `${JSON.stringify({ version: VERSION, installation_id: installationId, heads: sorted(heads), signed: sorted(signed) })}\n`;
}

/** Null if the text is not a marker of this version. */
export function parseMarker(text: string): Marker | null {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    const installationId = value["installation_id"];
    const heads = parseHeads(value["heads"]);
    const signed = parseHeads(value["signed"]);
    const isMarker =
      value["version"] === VERSION && typeof installationId === "string" && heads !== null && signed !== null;
    return isMarker ? { installationId, heads, signed } : null;
  } catch {
    return null;
  }
}

function parseHeads(value: unknown): Map<string, LogHead> | null {
  if (typeof value !== "object" || value === null) return null;
  const heads = new Map<string, LogHead>();
  for (const [name, head] of Object.entries(value)) {
    if (!Array.isArray(head)) return null;
    const [size, root] = head as unknown[];
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) return null;
    if (typeof root !== "string" || !ROOT.test(root)) return null;
    heads.set(name, { size, root });
  }
  return heads;
}

/** Both together, the larger of each log. */
export function mergeHeads(...maps: ReadonlyMap<string, LogHead>[]): Map<string, LogHead> {
  const merged = new Map<string, LogHead>();
  for (const map of maps)
    for (const [name, head] of map) if ((merged.get(name)?.size ?? -1) < head.size) merged.set(name, head);
  return merged;
}
