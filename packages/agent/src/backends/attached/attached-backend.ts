import type { Attachment } from "../../service/attachment.ts";
import { requireOwnSource } from "./resolve-source.ts";
import { uploadAndRegister } from "./upload-and-register.ts";
import { submitWaiting } from "./submit-waiting.ts";
import { findStoredBackup } from "./backup-to-test.ts";
import type { BackupBackend } from "../backup-backend.ts";
import { drawBackup, keptBackups } from "./draw-backup.ts";
import { reportFailure } from "../report-failure.ts";
import { submitAndFollow } from "./submitted-receipt.ts";

/** The backend of an attached root: the service. */
export function attachedBackend(attachment: Attachment): BackupBackend {
  const { layout, agentId, orgId, service } = attachment;
  return {
    layout,
    agentId,
    orgId,
    requireOwn: (config, { slug }, signal) => requireOwnSource(attachment, config, slug, { signal }),
    deliver: (config, pending, options) => uploadAndRegister(attachment, config, pending, options),
    find: (config, source, wanted) => findStoredBackup(attachment, config, source, wanted),
    kept: (config, source, signal) => keptBackups(attachment, config, source, signal),
    draw: (config, source, candidates, signal) =>
      drawBackup(attachment, config, source, { candidates, signal }),
    submitReceipt: (receipt, signal) => submitAndFollow(attachment, receipt, signal),
    submit: (signal) => submitWaiting(attachment, { signal, once: false }),
    reportFailure: async (failed, signal) => {
      await reportFailure(attachment, failed);
      await submitWaiting(attachment, { signal, once: true });
    },
    close: () => service.close(),
  };
}
