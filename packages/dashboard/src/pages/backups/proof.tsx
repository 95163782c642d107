import { Age } from "../../parts/age.tsx";
import { RecordLink } from "../../parts/record-link.tsx";
import { backups as text } from "../../text/backups.ts";
import { receipts } from "../../text/receipts.ts";
import type { Backup } from "./queries.ts";
import { refutedBy } from "./refuted-by.ts";

/** When a backup was proven, or that it has failed since. */
export function Proof({ backup }: { backup: Backup }) {
  const receipt = refutedBy(backup);
  if (receipt === null) return <Age at={backup.proven_at} fallback={text.notProven} />;
  return <RecordLink id={receipt}>{receipts.what.failed}</RecordLink>;
}
