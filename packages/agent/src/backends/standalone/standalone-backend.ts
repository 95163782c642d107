import { randomInt } from "node:crypto";
import { readSigningKey } from "../../signer/open-signing-keys.ts";
import type { Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import { RunError } from "../../errors/run-error.ts";
import { UserError } from "../../errors/user-error.ts";
import { receiptDirectory, receiptFileName } from "../../receipts/receipt-files.ts";
import { join } from "node:path";
import { keepReceipts } from "./keep-receipts.ts";
import { openStore } from "./open-store.ts";
import { storeBackup } from "./store-backup.ts";
import { storageMissing } from "./storage-in-place.ts";
import { listStored, readStored } from "./stored-backups.ts";
import type { BackupBackend } from "../backup-backend.ts";
import { reportFailure } from "../report-failure.ts";

/**
 * The backend of a root without a service: its own storage, and its receipts on its own disk.
 * @throws UserError
 */
export async function openStandaloneBackend(layout: Layout, config: Config): Promise<BackupBackend> {
  const { standalone, agent } = config;
  if (standalone === null || agent === null)
    throw new UserError(
      "config_invalid",
      `${layout.config} names no agent: create the root with \`attestore init --standalone\``,
    );
  const store = await openStore(standalone.storage, config.upload);
  const { id: agentId, orgId } = agent;
  // Reported before there is anything to sign.
  await readSigningKey(layout);
  const root = { layout, store, agentId, orgId };
  return {
    layout,
    agentId,
    orgId,
    requireOwn: () => Promise.resolve(),
    deliver: (now, pending, options) => storeBackup(root, now, pending, options),
    find: async (_config, source, { backupId }) => {
      const record =
        backupId === undefined
          ? (await listStored(layout)).find((each) => each.source === source.slug)
          : await readStored(layout, backupId);
      if (record === undefined || record === null)
        throw new UserError(
          "backup_unknown",
          backupId === undefined
            ? `this root knows of no backup of ${source.slug}. If there is none yet, make one: \`attestore backup --source ${source.slug}\`. ` +
                `If this root was made again after a loss, ${store.where} may hold earlier ones: name the file with --file (docs/recover.md, "Restore from the storage").`
            : `${backupId} is not stored here, or no longer: \`attestore receipts list\` lists all backups`,
        );
      if (record.source !== source.slug)
        throw new UserError(
          "backup_unknown",
          `${record.id} is a backup of ${record.source}, not of ${source.slug}`,
        );
      const { id, sourceId, sha256, sizeBytes, sourceMetadata } = record;
      const missing = await storageMissing(layout, standalone.storage);
      if (missing !== null) throw new RunError("ciphertext_unavailable", missing);
      const download = store.get.bind(store, record);
      return { id, sourceId, sha256, sizeBytes, sourceMetadata, download };
    },
    kept: async (_config, { slug }) =>
      (await listStored(layout))
        .filter(({ source }) => source === slug)
        .map(({ id }) => id)
        .toSorted(),
    // Without a log nobody else could check a draw, so the receipt does not speak of one.
    draw: (_config, { slug }, candidates) => {
      const backupId = candidates[candidates.length === 0 ? 0 : randomInt(candidates.length)];
      if (backupId === undefined)
        throw new UserError("backup_unknown", `there is no backup of ${slug} to draw from`);
      return Promise.resolve({ backupId, draw: null });
    },
    submitReceipt: async ({ sequence, kind }, signal) => {
      await keepReceipts(layout, signal);
      const file = join(receiptDirectory(layout, "accepted"), receiptFileName(sequence, kind));
      return { state: "kept", file, receiptId: null, logIndex: null, why: null, isWrong: false };
    },
    submit: async (signal) => {
      const accepted = await keepReceipts(layout, signal);
      return { accepted, refused: 0, unproven: 0, waiting: 0, stoppedBy: null };
    },
    reportFailure: async (failed, signal) => {
      await reportFailure({ layout }, failed);
      await keepReceipts(layout, signal);
    },
    close: () => store.close(),
  };
}
