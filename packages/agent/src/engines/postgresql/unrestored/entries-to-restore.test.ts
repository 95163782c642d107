import { expect, test } from "vitest";
import { type Child, startChild } from "../../../processes/child.ts";
import { entriesToRestore } from "./entries-to-restore.ts";
import { EntryList } from "./entry-list.ts";

const TABLE = "9; 1259 16400 TABLE tools orders shop";
const COMMENT = "8; 0 0 COMMENT - SCHEMA tools shop";

/** A program that prints this list, as `pg_restore --list` does. */
const listing =
  (lines: readonly string[], exit = 0) =>
  (): Promise<Child> =>
    startChild({
      command: "sh",
      args: ["-c", `cat > /dev/null; printf '%s\\n' "$@"; exit ${exit}`, "sh", "; a comment", ...lines],
      signal: new AbortController().signal,
    });

const restored = (schema: string, lines: readonly string[], exit?: number) =>
  entriesToRestore({ unrestored: null, schemas: new Set([schema]) }, listing(lines, exit));

test("a schema that exists already is left out, and nothing else of its name", async () => {
  expect(await restored("tools", ["7; 2615 16390 SCHEMA - tools shop", COMMENT, TABLE])).toEqual({
    entries: "8;\n9;\n",
    leavesOutSchemas: true,
  });
});

test.each([
  ["it comes twice", "tools", ["7; 2615 1 SCHEMA - tools shop", "6; 2615 2 SCHEMA - tools shop"]],
  ["an owner's name has a space", "tools", ["7; 2615 1 SCHEMA - tools the shop"]],
  ["its own name has a space", "my tools", ["7; 2615 1 SCHEMA - my tools shop"]],
])("where a list does not say which schema it is, all is restored: %s", async (_, schema, lines) => {
  const ids = [...lines, TABLE].map((line) => `${line.split(";")[0]};\n`);
  expect(await restored(schema, [...lines, TABLE])).toEqual({
    entries: ids.join(""),
    leavesOutSchemas: false,
  });
});

test("a list that was not printed whole leaves out nothing", async () => {
  expect(await restored("tools", ["7; 2615 1 SCHEMA - tools shop"], 1)).toEqual({
    entries: null,
    leavesOutSchemas: false,
  });
});

test("of more entries than are held, there is no list", () => {
  const list = new EntryList(5);
  expect([list.isEmpty, list.end()]).toEqual([true, ""]);
  list.add("12");
  expect([list.isEmpty, list.end()]).toEqual([false, "12;\n"]);
  list.add("3");
  expect([list.isEmpty, list.end()]).toEqual([false, null]);
});
