import { newId } from "@attestore/contract";
import type { BackupStatement } from "@attestore/proof";
import { backupStatement } from "../../src/receipts/statements.ts";
import type { Attachment } from "../../src/service/attachment.ts";

/** Of a new backup that the attached host made now. `previous` is the chain's last hash. */
export function statementOfBackup(attachment: Attachment, previous: string | null): BackupStatement {
  const now = new Date().toISOString();
  const sha256 = "ab".repeat(32);
  return backupStatement(
    attachment,
    {
      v: 1,
      sha256,
      size_bytes: 10,
      source: "orders",
      command_id: null,
      cipher: { name: "age-v1", recipients: ["age1x"] },
      source_metadata: { engine: "files", engine_version: "1", dump_format: "tar", schema_hash: sha256 },
      started_at: now,
      finished_at: now,
      upload: null,
      registered: null,
    },
    newId("source"),
    newId("backup"),
    previous,
  );
}
