import { comparedContent, type RestoreTestStatement, type Statement, plural } from "@attestore/proof";
import type { CheckedReceipt } from "./check-receipt.ts";
import type { Findings } from "./findings.ts";

/**
 * Checks that restore tests compared tables and objects with the digests in the backup's own
 * receipt, and not with others. Tests by earlier agents, and tests of backups without such digests,
 * compared nothing. They are only counted.
 */
export function checkContent(findings: Findings, receipts: readonly CheckedReceipt[]): void {
  const backups = new Map(
    receipts
      .filter(({ statement }) => !isRestoreTest(statement))
      .map(({ statement }) => [statement.predicate.backup_id, statement]),
  );
  let [compared, without, tables] = [0, 0, 0];
  for (const { id, statement } of receipts) {
    if (!isRestoreTest(statement) || statement.predicate.result !== "passed") continue;
    const content = comparedContent(statement.predicate.checks);
    const backup = backups.get(statement.predicate.backup_id);
    if (content === null) without += 1;
    else if (backup !== undefined) {
      compared += 1;
      tables += content.tables;
      const other = comparedWithOther(statement, backup);
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

const COMPARED = /^inferred:(content|objects|privileges|unrestored)(?::([^]*))?$/;

/** The id of a check that used other digests than the backup's; null if there is none. */
function comparedWithOther({ predicate }: RestoreTestStatement, backup: Statement): string | null {
  for (const { id, observed } of predicate.checks) {
    const [, what, database] = COMPARED.exec(id) ?? [];
    if (what === undefined) continue;
    const content = signedContent(backup, database);
    const signed = what === "content" ? content : partOf(content, what);
    const { signed_sha256, sha256, tables } = observed;
    if (signed === null || signed["sha256"] !== signed_sha256) return id;
    // If everything was compared, the digest over it is the signed one.
    const isAll = what !== "content" || tables === signed["tables"];
    if (isAll && sha256 !== signed_sha256) return id;
  }
  return null;
}

function signedContent(
  { predicate }: Statement,
  database: string | undefined,
): Readonly<Record<string, unknown>> | null {
  if (!("source_metadata" in predicate)) return null;
  const { content, databases } = predicate.source_metadata;
  if (database === undefined) return isObject(content) ? content : null;
  const own = (Array.isArray(databases) ? databases : []).find(
    (each: unknown) => isObject(each) && each["name"] === database,
  ) as Readonly<Record<string, unknown>> | undefined;
  return isObject(own?.["content"]) ? own["content"] : null;
}

function partOf(
  content: Readonly<Record<string, unknown>> | null,
  name: string,
): Readonly<Record<string, unknown>> | null {
  const part = content?.[name];
  return isObject(part) ? part : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isRestoreTest(statement: Statement): statement is RestoreTestStatement {
  return "result" in statement.predicate;
}
