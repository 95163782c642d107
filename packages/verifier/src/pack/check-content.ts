import { plural } from "@attestore/proof";
import type { CheckedReceipt } from "./check-receipt.ts";
import { comparedWithOther, type SignedDigests } from "./content-digests.ts";
import type { Findings } from "./findings.ts";
import { isKeptTest } from "./kept-statement.ts";

/**
 * Checks that restore tests compared tables and objects with the digests in the backup's own
 * receipt, and not with others. Tests by earlier agents, and tests of backups without such digests,
 * compared nothing. They are only counted.
 */
export function checkContent(findings: Findings, receipts: readonly CheckedReceipt[]): void {
  const backups = new Map<string, SignedDigests[]>();
  for (const { statement } of receipts)
    if (!isKeptTest(statement)) backups.set(statement.predicate.backup_id, statement.digests);
  let [compared, without, tables] = [0, 0, 0];
  for (const { id, statement } of receipts) {
    if (!isKeptTest(statement) || statement.predicate.result !== "passed") continue;
    const signed = backups.get(statement.predicate.backup_id);
    if (statement.tables === null) without += 1;
    else if (signed !== undefined) {
      compared += 1;
      tables += statement.tables;
      const other = comparedWithOther(statement.compared, signed);
      if (other !== null)
        findings.fail("content", `${id}: ${other} is held against other digests than those of its backup`);
    }
  }
  if (compared > 0)
    findings.hold(
      "content",
      `${plural(compared, "passed restore test")} compared the content of ${plural(tables, "table")}; ${without} compared none`,
    );
}
