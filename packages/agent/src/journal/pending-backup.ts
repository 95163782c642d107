import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Cipher, SourceMetadata } from "@attestore/contract";
import { removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";
import { dropProgress } from "./upload-progress.ts";

/**
 * A whole ciphertext on its way to the store, in `blobs/<sha256>.json`: how far it has come. Each
 * step is written down after it was taken, so that it is at worst taken again.
 */
export interface PendingBackup {
  readonly v: 1;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly source: string;
  readonly command_id: string | null;
  readonly cipher: Cipher;
  readonly source_metadata: SourceMetadata;
  readonly started_at: string;
  readonly finished_at: string;
  /** Set once the object store has all of it; without a service, as soon as it is named. */
  readonly upload: {
    readonly id: string;
    readonly source_id: string;
    /** Of the registration, whose answer may get lost. */
    readonly idempotency_key: string;
    readonly parts: readonly { readonly part_number: number; readonly etag: string }[] | null;
  } | null;
  /**
   * Set once the service knows it; without one, as soon as it is named. `receipts_before`: how many
   * receipts there were then.
   */
  readonly registered: { readonly backup_id: string; readonly receipts_before: number } | null;
}

export type MadeBackup = Omit<PendingBackup, "v" | "upload" | "registered">;

/** From here on the backup is not lost, whatever happens to this process. */
export async function recordBackup(layout: Layout, made: MadeBackup): Promise<PendingBackup> {
  const pending: PendingBackup = { v: 1, ...made, upload: null, registered: null };
  await savePending(layout, pending);
  return pending;
}

export async function savePending(layout: Layout, pending: PendingBackup): Promise<void> {
  await replaceJsonFile(join(layout.blobs, `${pending.sha256}.json`), pending);
}

/** Oldest first. */
export async function listPending(layout: Layout): Promise<PendingBackup[]> {
  const found: PendingBackup[] = [];
  for (const name of await readdir(layout.blobs)) {
    if (!/^[0-9a-f]{64}\.json$/.test(name)) continue;
    const value = await readJson(join(layout.blobs, name));
    if (value !== null) found.push(value as PendingBackup);
  }
  return found.toSorted((a, b) => (a.finished_at < b.finished_at ? -1 : 1));
}

export function blobPath(layout: Layout, sha256: string): string {
  return join(layout.blobs, `${sha256}.age`);
}

/**
 * Removes the ciphertext, and then what was known of it: the other way round would leave bytes that
 * nobody names.
 */
export async function dropPending(layout: Layout, { sha256 }: PendingBackup): Promise<void> {
  await removeFile(blobPath(layout, sha256));
  await dropProgress(layout, sha256);
  await removeFile(join(layout.blobs, `${sha256}.json`));
}

/**
 * Removes ciphertexts of runs that were killed before they wrote down what they had made: nothing
 * is known of them but their digest, so they can't be registered. The caller holds the `work` lock.
 */
export async function sweepBlobs(layout: Layout): Promise<number> {
  const names = new Set(await readdir(layout.blobs));
  const orphans = [...names].filter(
    (name) => /^[0-9a-f]{64}\.age$/.test(name) && !names.has(name.replace(/age$/, "json")),
  );
  for (const name of orphans) await removeFile(join(layout.blobs, name));
  return orphans.length;
}
