import { expect, test } from "vitest";
import { RestoreRefused } from "../engine.ts";
import { refusalOf } from "./refusal.ts";

const refusal = (error: string) =>
  refusalOf(
    { code: 1, signal: null, stderr: "" },
    `--------------\nCREATE USER secret\n--------------\n\n${error}`,
    { runtime: {} as never, hasRunFull: () => false, hasDied: () => false },
    { functions: [], databases: [], ofBackup: null, used: new Set() },
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
