import type { Config } from "../../root/config.ts";
import { UserError } from "../../root/user-error.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import { ServiceError } from "../../service/service-error.ts";
import { openStore } from "../../standalone/open-store.ts";
import type { StandaloneConfig } from "../../standalone/storage-config.ts";
import { bad, good, type Finding } from "./finding.ts";

/** Where a standalone root keeps its backups. */
export async function examineStorage(
  { storage }: StandaloneConfig,
  upload: Config["upload"],
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const store = await openStore(storage, upload);
    try {
      await store.examine(signal);
      return good("storage", store.where);
    } finally {
      store.close();
    }
  } catch (error) {
    if (!(error instanceof UserError || error instanceof ServiceError || error instanceof CouldNotRun))
      throw error;
    return bad("storage", error.message, "see standalone.storage in config.yaml (docs/standalone.md)");
  }
}
