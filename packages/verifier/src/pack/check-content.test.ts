import { expect, test } from "vitest";
import { backupStatement, restoreTestStatement } from "../../../proof/test/receipt-fixture.ts";
import { checkContent } from "./check-content.ts";
import type { CheckedReceipt } from "./check-receipt.ts";
import { Findings } from "./findings.ts";
import { keptStatement } from "./kept-statement.ts";

const [A, B] = ["a".repeat(64), "b".repeat(64)];

function receipt(id: string, predicate: Record<string, unknown>): CheckedReceipt {
  const made = "result" in predicate ? restoreTestStatement() : backupStatement();
  Object.assign(made.predicate, { backup_id: "bkp_1", ...predicate });
  return {
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

function lineOf(receipts: readonly CheckedReceipt[]) {
  const findings = new Findings();
  checkContent(findings, receipts);
  return findings.lines().find(({ id }) => id === "content");
}

test("tests that compared with their backup's digests are true, and the amount compared is shown", () => {
  const none = receipt("rcpt_old", { result: "passed", checks: [{ id: "inferred:tables", observed: {} }] });
  const some = tested(check({ tables: 2, sha256: B }));
  const ofSet = tested(check({ tables: 2, signed_sha256: B, sha256: B }, "inferred:content:shop"));
  expect(lineOf([BACKUP, tested(check({})), some, ofSet, none])).toMatchObject({
    result: "held",
    detail: "3 passed restore tests compared the content of 7 tables; 1 compared none",
  });
  expect(lineOf([BACKUP, none])).toBeUndefined();
  const objects = tested(check({ signed_sha256: B, sha256: B, objects: 9 }, "inferred:objects"));
  expect(lineOf([BACKUP, objects])).toMatchObject({ result: "held" });
  const privileges = check({ signed_sha256: A, sha256: A, objects: 4 }, "inferred:privileges");
  expect(lineOf([BACKUP, withObjects(privileges)])).toMatchObject({ result: "held" });
  const unrestored = check({ signed_sha256: A, sha256: A, objects: 5 }, "inferred:unrestored");
  expect(lineOf([BACKUP, withObjects(unrestored)])).toMatchObject({ result: "held" });
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
  ["objects that the backup does not have", tested(check({ signed_sha256: B }, "inferred:objects:shop"))],
  ["those of another database", tested(check({ tables: 2 }, "inferred:content:shop"))],
  ["those of a database that the backup does not have", tested(check({}, "inferred:content:other"))],
])("a pass that is held against %s is refused", (_, test) => {
  expect(lineOf([BACKUP, test])).toMatchObject({ result: "failed" });
});
