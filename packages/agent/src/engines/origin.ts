import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import type { Origin } from "./engine.ts";

/**
 * The origin of a file or directory: its real path, as a digest because receipts are shown to
 * others.
 */
export async function originOfPath(
  path: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Origin> {
  return { identity: { path_sha256: digestOf(await realpath(path)), ...more }, host: null };
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
