import { expect, test } from "vitest";
import { RestoreRefused } from "../../engine.ts";
import { refusalOf } from "./refusal.ts";

const refusal = (error: string, ofBackup: readonly string[] | null = ["shop"]) =>
  refusalOf(
    { code: 1, signal: null, stderr: "" },
    `--------------\nCREATE USER secret\n--------------\n\n${error}`,
    { runtime: {} as never, hasRunFull: () => false, hasDied: () => false },
    { functions: [], databases: [], ofBackup, used: new Set() },
  );

test("a dump that asks for more than to fill its databases is told so, and what it asked for is not quoted", () => {
  const denied = refusal(
    "ERROR 1227 (42000) at line 7: Access denied; you need (at least one of) the CREATE USER privilege(s)",
  );
  expect(denied).toBeInstanceOf(RestoreRefused);
  expect(denied.message).toMatch(
    /^the dump cannot be loaded \(error 1227, SQLSTATE 42000, at line 7 of the dump\): it asks for more than to fill its own databases/,
  );
  expect(denied.message).not.toContain("secret");
  expect(refusal("ERROR 1064 (42000) at line 7: You have an error in your SQL syntax").message).toBe(
    "the dump cannot be loaded (error 1064, SQLSTATE 42000, at line 7 of the dump)",
  );
});

test("another program's dump that asks for more could not be tested, because an administrator can load it", () => {
  const denied =
    "ERROR 1227 (42000) at line 7: Access denied; you need (at least one of) the SUPER privilege(s)";
  expect(refusal(denied, null)).toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("it asks for more than to fill its own databases") as string,
  });
});

test.each([
  [
    "1128 (HY000) at line 34: Function 'mecab' is not defined",
    "lacks a feature that the dump needs (error 1128",
  ],
  ["1911 (HY000) at line 34: Unknown option 'TABLE_TYPE'", "lacks a feature that the dump needs (error 1911"],
  [
    `1005 (HY000) at line 34: Can't create table \`shop\`.\`t\` (errno: 140 "Wrong create options")`,
    "such as encryption, for which it has no keys",
  ],
  [
    "3185 (HY000) at line 34: Can't find master key from keyring",
    "such as encryption, for which it has no keys",
  ],
  ["3510 (HY000) at line 34: Tablespace `slow` doesn't exist.", "in a tablespace of the server"],
  [
    "3548 (SR001) at line 34: There's no spatial reference system with SRID 990001.",
    "a spatial reference system of the server's own",
  ],
])("a table that needs what the scratch server lacks could not be tested: %s", (error, told) => {
  expect(refusal(`ERROR ${error}`)).toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining(told) as string,
  });
});

test("a dump with a foreign key that no server takes, or with its views in the wrong order, is to blame", () => {
  const key = `ERROR 1005 (HY000) at line 34: Can't create table \`shop\`.\`t\` (errno: 150 "Foreign key constraint is incorrectly formed")`;
  expect(refusal(key)).toBeInstanceOf(RestoreRefused);
  const views = refusal("ERROR 1368 (HY000) at line 99: CHECK OPTION on non-updatable view `shop`.`a`");
  expect(views).toBeInstanceOf(RestoreRefused);
  expect(views.message).toContain("Rename one of the two at the source");
});

test.each([
  ["4025 (23000) at line 46: CONSTRAINT `t.late` failed for `shop`.`t`", "check constraint t.late. "],
  ["3819 (HY000) at line 46: Check constraint 'late' is violated.", "check constraint late. "],
  ["1062 (23000) at line 46: Duplicate entry 'secret' for key 'by_code'", "unique key by_code. "],
])("a row that breaks a constraint is not quoted, and the constraint is named: %s", (error, told) => {
  const refused = refusal(`ERROR ${error}`);
  expect(refused).toBeInstanceOf(RestoreRefused);
  expect(refused.message).toContain(`a row breaks the ${told}`);
  expect(refused.message).not.toContain("secret");
});
