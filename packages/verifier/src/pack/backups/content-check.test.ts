import { expect, test } from "vitest";
import { backupStatement, restoreTestStatement } from "../../../../proof/test/receipt-fixture.ts";
import type { CheckedReceipt } from "../entries/check-receipt.ts";
import { ContentCheck } from "./content-check.ts";
import { Findings } from "../findings.ts";
import { keptStatement } from "../entries/kept-statement.ts";

const [A, B] = ["a".repeat(64), "b".repeat(64)];

function receipt(id: string, predicate: Record<string, unknown>): CheckedReceipt {
  const made = "result" in predicate ? restoreTestStatement() : backupStatement();
  Object.assign(made.predicate, { backup_id: "bkp_1", ...predicate });
  return {
    file: 0,
    id,
    logIndex: 0,
    recordedAt: "2026-11-20T02:00:42.000Z",
    bodySha256: "",
    statement: keptStatement(made),
    keyFingerprint: "",
    isEarlier: false,
  };
}

const BACKUP = receipt("rcpt_backup", {
  source_metadata: {
    content: {
      tables: 3,
      sha256: A,
      objects: { count: 9, sha256: B },
      privileges: { v: 2, total: 4, sha256: A },
      unrestored: { v: 2, total: 5, sha256: A },
      globals: { v: 2, total: 6, sha256: A },
    },
    databases: [{ name: "shop", content: { tables: 2, sha256: B } }],
  },
});

const check = (observed: Record<string, unknown>, id = "inferred:content") => ({
  id,
  observed: { tables: 3, signed_sha256: A, sha256: A, ...observed },
});

const tested = (...checks: readonly object[]): CheckedReceipt =>
  receipt("rcpt_test", { result: "passed", checks });

/** Together with objects that are the backup's. */
const withObjects = (other: object): CheckedReceipt =>
  tested({ id: "inferred:objects", observed: { objects: 9, signed_sha256: B, sha256: B } }, other);

async function lineOf(receipts: readonly CheckedReceipt[]) {
  const findings = new Findings();
  const at = (file: number): CheckedReceipt => receipts[file] ?? expect.unreachable();
  const content = new ContentCheck((file) => Promise.resolve(at(file).statement));
  for (const [file, each] of receipts.entries()) await content.add({ ...each, file });
  await content.finish(findings, (file) => at(file).id);
  return findings.lines().find(({ id }) => id === "content");
}

test("tests that compared with their backup's digests are true, and the amount compared is shown", async () => {
  const none = receipt("rcpt_old", { result: "passed", checks: [{ id: "inferred:tables", observed: {} }] });
  const some = tested(check({ tables: 2, sha256: B }));
  const ofSet = tested(check({ tables: 2, signed_sha256: B, sha256: B }, "inferred:content:shop"));
  expect(await lineOf([BACKUP, tested(check({})), some, ofSet, none])).toMatchObject({
    result: "held",
    detail: "3 passed restore tests compared the content of 7 tables; 1 compared none",
  });
  expect(await lineOf([BACKUP, none])).toBeUndefined();
  const objects = tested(check({ signed_sha256: B, sha256: B, objects: 9 }, "inferred:objects"));
  expect(await lineOf([BACKUP, objects])).toMatchObject({ result: "held" });
  const privileges = check({ signed_sha256: A, sha256: A, objects: 4 }, "inferred:privileges");
  expect(await lineOf([BACKUP, withObjects(privileges)])).toMatchObject({ result: "held" });
  const unrestored = check({ signed_sha256: A, sha256: A, objects: 5 }, "inferred:unrestored");
  expect(await lineOf([BACKUP, withObjects(unrestored)])).toMatchObject({ result: "held" });
  const globals = check({ signed_sha256: A, sha256: A, objects: 6 }, "inferred:globals");
  expect(await lineOf([BACKUP, withObjects(globals)])).toMatchObject({ result: "held" });
});

test.each([
  ["other digests", tested(check({ signed_sha256: B }))],
  ["another digest over all of it", tested(check({ sha256: B }))],
  ["other objects", tested(check({ signed_sha256: A, sha256: A }, "inferred:objects"))],
  ["another digest over the objects", tested(check({ signed_sha256: B, sha256: A }, "inferred:objects"))],
  ["other owners and grants", withObjects(check({ signed_sha256: B, sha256: B }, "inferred:privileges"))],
  ["other publications", withObjects(check({ signed_sha256: B, sha256: B }, "inferred:unrestored"))],
  [
    "another digest over the publications",
    withObjects(check({ signed_sha256: A, sha256: B }, "inferred:unrestored")),
  ],
  ["other roles", withObjects(check({ signed_sha256: B, sha256: B }, "inferred:globals"))],
  ["another digest over the roles", withObjects(check({ signed_sha256: A, sha256: B }, "inferred:globals"))],
  ["objects that the backup does not have", tested(check({ signed_sha256: B }, "inferred:objects:shop"))],
  ["those of another database", tested(check({ tables: 2 }, "inferred:content:shop"))],
  ["those of a database that the backup does not have", tested(check({}, "inferred:content:other"))],
])("a pass that is held against %s is refused", async (_, test) => {
  expect(await lineOf([BACKUP, test])).toMatchObject({ result: "failed" });
});

const receiptOf = (sha256: string, id = "bkp_1"): CheckedReceipt =>
  receipt(`rcpt_${id}_${sha256[0]}`, { backup_id: id, source_metadata: { content: { tables: 3, sha256 } } });

test("the backup's receipt may come after the test, and its last one counts", async () => {
  const test_ = tested(check({}));
  for (const [receipts, result] of [
    [[test_, receiptOf(A)], "held"],
    [[test_, receiptOf(B)], "failed"],
    [[receiptOf(A), test_, receiptOf(A)], "held"],
    [[receiptOf(A), test_, receiptOf(B)], "failed"],
    [[receiptOf(B), test_, receiptOf(A)], "held"],
    [[receiptOf(B), test_, receiptOf(A), receiptOf(B)], "failed"],
  ] as const)
    expect(await lineOf(receipts)).toMatchObject({ result });
  // Nothing is known of a backup whose receipt is not there.
  expect(await lineOf([test_, receiptOf(A, "bkp_2")])).toBeUndefined();
});

test("digests of many backups are read again where they are needed", async () => {
  const ids = Array.from({ length: 40 }, (_, n) => `bkp_${n}`);
  const backups = ids.map((id, n) => receiptOf(n % 2 === 0 ? A : B, id));
  const tests = ids.map((backup_id, n) => {
    const sha256 = n % 2 === 0 ? A : B;
    return receipt(`rcpt_${n}`, {
      backup_id,
      result: "passed",
      checks: [check({ signed_sha256: sha256, sha256 })],
    });
  });
  const all = [...backups, ...tests];
  expect(await lineOf(all)).toMatchObject({
    result: "held",
    detail: "40 passed restore tests compared the content of 120 tables; 0 compared none",
  });
  const other = receipt("rcpt_other", {
    backup_id: "bkp_0",
    result: "passed",
    checks: [check({ signed_sha256: B })],
  });
  expect(await lineOf([...all, other])).toMatchObject({ result: "failed" });
});
