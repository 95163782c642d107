import { expect, test } from "vitest";
import { compareDeclared, NOT_READ } from "./compare-declared.ts";

const KEY = Buffer.alloc(32, 7);
const table = (name: string, definition: string) => ({ kind: "table", name, definition });
const compared = (declared: ReturnType<typeof table>[], restored: ReturnType<typeof table>[]) =>
  compareDeclared(
    { declared, restored, isCertain: () => true, isLookedFor: ({ name }) => name !== "of the server" },
    KEY,
    {
      words: { query: "q", hint: "h" },
      duration_ms: 1,
    },
  );

test("the unread part of an object is named, even if it is the same in both", () => {
  const both = [table("read", "a"), table("too long", NOT_READ)];
  expect(compared(both, both)).toMatchObject({
    result: "passed",
    observed: { objects: 1, not_compared: 1, not_compared_objects: "table too long" },
  });
  expect(compared([table("too long", NOT_READ)], [table("too long", NOT_READ)])).toBeNull();
});

test("an object that was not read and is not in the copy is lost", () => {
  const outcome = compared([table("read", "a"), table("too long", NOT_READ)], [table("read", "a")]);
  expect(outcome).toMatchObject({ result: "failed" });
  expect(JSON.stringify(outcome)).toContain("too long");
});

test("an object of the copy that was not found in the dump is named", () => {
  const read = table("read", "a");
  expect(compared([read], [read, table("not found", "b"), table("of the server", "c")])).toMatchObject({
    result: "passed",
    observed: { objects: 1, found: 1, not_compared: 1, not_compared_objects: "table not found" },
  });
});
