import { join } from "node:path";
import { removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/**
 * The progress of a multipart upload, in `blobs/<sha256>.parts.json`. A part is recorded after the
 * store has it, so a crash at worst sends it again.
 */
export interface UploadProgress {
  readonly v: 1;
  readonly upload_id: string;
  readonly source_id: string;
  readonly parts: readonly SentPart[];
}

export interface SentPart {
  readonly part_number: number;
  readonly etag: string;
}

export async function readProgress(layout: Layout, sha256: string): Promise<UploadProgress | null> {
  return (await readJson(path(layout, sha256))) as UploadProgress | null;
}

export async function saveProgress(layout: Layout, sha256: string, progress: UploadProgress): Promise<void> {
  await replaceJsonFile(path(layout, sha256), progress);
}

export async function dropProgress(layout: Layout, sha256: string): Promise<void> {
  await removeFile(path(layout, sha256));
}

function path(layout: Layout, sha256: string): string {
  return join(layout.blobs, `${sha256}.parts.json`);
}
