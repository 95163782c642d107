import type { BackupStore } from "./backup-store.ts";
import { directoryStore } from "./directory-store.ts";
import type { StorageConfig } from "../../config/storage-config.ts";

/** @throws UserError if the store's credentials are missing */
export async function openStore(
  storage: StorageConfig,
  { maxBytesPerSecond }: { readonly maxBytesPerSecond: number | null },
): Promise<BackupStore> {
  if (storage.kind === "directory") return directoryStore(storage.path);
  const { s3Store } = await import("./s3/s3-store.ts");
  return s3Store(storage.s3, { maxBytesPerSecond });
}
