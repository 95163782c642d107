import { join } from "node:path";
import { makeDirectory, removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import type { Draw } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/**
 * A draw that has no test yet. Until it has one, no other is declared for its source: otherwise one
 * could draw again until the result suits.
 */
export interface OpenDraw {
  readonly v: 1;
  /** The name of the event that declares it. */
  readonly event: string;
  /**
   * 32 bytes in hex. The declaration is bound to it, and nobody may know it before the log signs.
   */
  readonly secret: string;
  readonly declared_at: string;
  /** Null until the log has signed. */
  readonly decided: { readonly backup_id: string; readonly draw: Draw } | null;
}

export async function readOpenDraw(layout: Layout, sourceId: string): Promise<OpenDraw | null> {
  return (await readJson(fileOf(layout, sourceId))) as OpenDraw | null;
}

export async function saveOpenDraw(layout: Layout, sourceId: string, draw: OpenDraw): Promise<void> {
  await makeDirectory(layout.draws);
  await replaceJsonFile(fileOf(layout, sourceId), draw);
}

/** Its test is signed, or it can have none. */
export async function closeDraw(layout: Layout, sourceId: string): Promise<void> {
  await removeFile(fileOf(layout, sourceId));
}

function fileOf(layout: Layout, sourceId: string): string {
  return join(layout.draws, `${sourceId}.json`);
}
