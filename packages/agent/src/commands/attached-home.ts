import type { Attachment } from "../service/attachment.ts";
import { requireOwnSource } from "../service/resolve-source.ts";
import { deliverBackup } from "../spool/deliver-backup.ts";
import { submitWaiting } from "../spool/submit-waiting.ts";
import { findStoredBackup } from "./backup-to-test.ts";
import type { Home } from "./home.ts";
import { reportFailure } from "./report-failure.ts";
import { submitAndFollow } from "./submitted-receipt.ts";

/** The home of an attached root: the service. */
export function attachedHome(attachment: Attachment): Home {
  const { layout, agentId, orgId, service } = attachment;
  return {
    layout,
    agentId,
    orgId,
    requireOwn: (config, { slug }, signal) => requireOwnSource(attachment, config, slug, { signal }),
    deliver: (config, pending, options) => deliverBackup(attachment, config, pending, options),
    find: (config, source, wanted) => findStoredBackup(attachment, config, source, wanted),
    settle: (receipt, signal) => submitAndFollow(attachment, receipt, signal),
    submit: (signal) => submitWaiting(attachment, { signal, once: false }),
    reportFailure: async (failed, signal) => {
      await reportFailure(attachment, failed);
      await submitWaiting(attachment, { signal, once: true });
    },
    close: () => service.close(),
  };
}
