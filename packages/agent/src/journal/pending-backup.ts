import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Cipher, SourceMetadata } from "@attestore/contract";
import { removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";
import { dropProgress } from "./upload-progress.ts";

/**
 * The progress of a finished ciphertext towards the store, in `blobs/<sha256>.json`. Each step is
 * recorded after it was done, so a crash at worst repeats a step.
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
  /**
   * Set once the object store has the whole ciphertext; without a service, as soon as it has a
   * name.
   */
  readonly upload: {
    readonly id: string;
    readonly source_id: string;
    /** The registration's idempotency key, because its answer may be lost. */
    readonly idempotency_key: string;
    readonly parts: readonly { readonly part_number: number; readonly etag: string }[] | null;
  } | null;
  /**
   * Set once the service knows the backup; without a service, as soon as it has a name.
   * `receipts_before` is the number of receipts at that time.
   */
  readonly registered: { readonly backup_id: string; readonly receipts_before: number } | null;
}

export type MadeBackup = Omit<PendingBackup, "v" | "upload" | "registered">;

/** Once this has returned, the backup survives a crash of this process. */
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
 * Removes the ciphertext first and then its record: in the other order, a crash would leave a file
 * that no record names.
 */
export async function dropPending(layout: Layout, { sha256 }: PendingBackup): Promise<void> {
  await removeFile(blobPath(layout, sha256));
  await dropProgress(layout, sha256);
  await removeFile(join(layout.blobs, `${sha256}.json`));
}

/**
 * Removes ciphertexts of runs that were killed before they recorded them. Only their digest is
 * known, so they cannot be registered. The caller holds the `work` lock.
 */
export async function sweepBlobs(layout: Layout): Promise<number> {
  const names = new Set(await readdir(layout.blobs));
  const orphans = [...names].filter(
    (name) => /^[0-9a-f]{64}\.age$/.test(name) && !names.has(name.replace(/age$/, "json")),
  );
  for (const name of orphans) await removeFile(join(layout.blobs, name));
  return orphans.length;
}
