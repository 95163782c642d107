import { expect, test } from "vitest";
import type { Drift } from "../queries.ts";
import { changeWords, objectWords } from "./change-words.ts";

const drift = (more: Partial<Drift>): Drift => ({
  kind: "environment",
  field: "engine_version",
  before: "15.3",
  after: "15.4",
  since: "2026-11-21T12:00:00.000Z",
  backup_id: "bkp_1",
  ...more,
});
const names = (count: number) => Array.from({ length: count }, (_, n) => `table t${n}`);
const schema = {
  kind: "schema",
  field: "schema_hash",
  before: "a".repeat(64),
  after: "b".repeat(64),
} as const;

test("a change names its field, and both values if they are short", () => {
  expect(changeWords(drift({}))).toBe("Engine version: 15.3 → 15.4");
  expect(changeWords(drift({ field: "cipher.recipients", before: ["age1x"], after: [] }))).toBe("Recipients");
  expect(changeWords(drift({ field: "of a later version" }))).toBe("of a later version: 15.3 → 15.4");
});

test("a change of the schema gives counts, and no digests", () => {
  const changes = { added: names(1), removed: [], altered: names(2) };
  expect(changeWords(drift({ ...schema, changes }))).toBe("Schema: 1 added, 2 altered");
  expect(changeWords(drift(schema))).toBe("Schema");
  const none = { added: [], removed: [], altered: [] };
  expect(changeWords(drift({ ...schema, changes: none }))).toBe("Schema");
  const others = { field: "other_objects", before: { trigger: 4 }, after: { trigger: 3 } };
  const lost = { ...none, removed: ["trigger public.lines.touched"] };
  expect(changeWords(drift({ ...schema, ...others, changes: lost }))).toBe(
    "Triggers, functions, grants and other objects: 1 removed",
  );
  expect(changeWords(drift({ ...schema, field: "exact_schema_hash" }))).toBe("Schema");
});

test("an object's kind is in words, and its name as it is", () => {
  expect(objectWords("event_trigger no_drop")).toBe("event trigger no_drop");
  expect(objectWords("function public.next_number(order_id integer)")).toBe(
    "function public.next_number(order_id integer)",
  );
  expect(objectWords("grant (9, now 8)")).toBe("grant (9, now 8)");
});
