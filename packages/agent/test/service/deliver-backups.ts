/**
 * A child process for crash tests: takes up what an earlier one left, then carries COUNT made-up
 * ciphertexts from the disk to accepted receipts. Says on stdout what it has promised: `recorded
 * SHA256`, `done`. Arguments: ROOT COUNT
 */
import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { takeWorkLock } from "../../src/cli/invocation/work-lock.ts";
import { readConfig } from "../../src/config/config.ts";
import { layoutOf } from "../../src/state/layout.ts";
import { openAttachment } from "../../src/service/attachment.ts";
import { openService } from "../../src/service/service.ts";
import { uploadAndRegister } from "../../src/backends/attached/upload-and-register.ts";
import { blobPath, listPending, recordBackup } from "../../src/journal/pending-backup.ts";
import { spoolEvent } from "../../src/receipts/spooled-event.ts";
import { submitWaiting } from "../../src/backends/attached/submit-waiting.ts";
import { readPinnedCa } from "../../src/transport/pinned-ca.ts";
import { readAgentToken } from "../../src/state/agent-token.ts";

const [root = "", count = "0"] = process.argv.slice(2);

// A function, since one file of CommonJS is made of it.
async function deliver(): Promise<void> {
  const layout = layoutOf(root);
  const signal = new AbortController().signal;
  const config = await readConfig(layout.config, root);
  const attachment = {
    ...(await openAttachment(layout, config)),
    service: openService({
      url: config.service?.url ?? new URL("https://none"),
      pinnedCa: await readPinnedCa(layout.ca),
      token: await readAgentToken(layout),
      backoff: { tries: 4, first_ms: 5, longest_ms: 50 },
    }),
  };

  using _ = await takeWorkLock(layout, "test", { signal, wait: true, say: () => undefined });
  process.stdout.write("ready\n");
  for (const pending of await listPending(layout))
    await uploadAndRegister(attachment, config, pending, { signal });
  await submitWaiting(attachment, { signal, once: false });
  for (let made = 0; made < Number(count); made++) {
    const content = randomBytes(50_000);
    const sha256 = createHash("sha256").update(content).digest("hex");
    writeFileSync(blobPath(layout, sha256), content);
    const now = new Date().toISOString();
    const pending = await recordBackup(layout, {
      sha256,
      size_bytes: content.length,
      source: "orders",
      command_id: null,
      cipher: {
        name: "age-v1",
        recipients: ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"],
      },
      source_metadata: { engine: "files", engine_version: "1", dump_format: "tar", schema_hash: sha256 },
      started_at: now,
      finished_at: now,
    });
    process.stdout.write(`recorded ${sha256}\n`);
    // Signed between two receipts of the chain.
    await spoolEvent(layout, `after-${sha256}`, {
      kind: "backup_failed",
      occurred_at: now,
      detail: { reason: sha256 },
    });
    await uploadAndRegister(attachment, config, pending, { signal });
    const { stoppedBy } = await submitWaiting(attachment, { signal, once: false });
    if (stoppedBy !== null) throw stoppedBy;
  }
  attachment.service.close();
  process.stdout.write("done\n");
}
void deliver();
