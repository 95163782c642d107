import { archiveReceipts, listArchivable } from "../../log/archive/archive-receipts.ts";
import type { Database } from "../../platform/database/schema.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import type { Job } from "../../platform/jobs/job.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";

const DAY_MS = 86_400_000;

export interface ArchiveDeps {
  db: Database;
  files: ServiceFiles;
  logger: Logger;
  requireDeletable: () => Promise<void>;
  /** At least 30: the database refuses younger ones. */
  after_days: number;
}

/** Moves the envelopes of old receipts out of the database. */
export function archiveJob({ db, files, logger, requireDeletable, after_days }: ArchiveDeps): Job {
  return {
    name: "archive_receipts",
    every_s: 3600,
    run: async ({ now, signal }) => {
      const before = new Date(now.getTime() - after_days * DAY_MS);
      await eachOf(await listArchivable(db), signal, async (orgId) => {
        const archived = await archiveReceipts(
          { db, files, requireStore: requireDeletable },
          { orgId, before, signal },
        );
        if (archived.files > 0) logger.info({ org_id: orgId, ...archived }, "archived receipts");
      });
    },
  };
}
