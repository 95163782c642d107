import type { Config } from "../../config/config.ts";
import { UserError } from "../../errors/user-error.ts";
import { RunError } from "../../errors/run-error.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { openStore } from "../../backends/standalone/open-store.ts";
import type { StandaloneConfig } from "../../config/storage-config.ts";
import { storageMissing } from "../../backends/standalone/storage-in-place.ts";
import { shellWord } from "@attestore/proof";
import type { Layout } from "../../state/layout.ts";
import { failed, type Finding, ok } from "@attestore/host/finding";

/** Where a standalone root keeps its backups. */
export async function examineStorage(
  layout: Layout,
  { storage }: StandaloneConfig,
  upload: Config["upload"],
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const store = await openStore(storage, upload);
    try {
      await store.examine(signal);
      const missing = await storageMissing(layout, storage);
      if (missing !== null) return failed("storage", missing, `findmnt; ls -la ${shellWord(store.where)}`);
      return ok("storage", store.where);
    } finally {
      store.close();
    }
  } catch (error) {
    if (!(error instanceof UserError || error instanceof ServiceError || error instanceof RunError))
      throw error;
    return failed("storage", error.message, "see standalone.storage in config.yaml (docs/standalone.md)");
  }
}
