import { expect, test } from "vitest";
import { arranged, type ListedSource } from "./listed-sources.ts";

const source = (name: string, more: Partial<ListedSource> = {}): ListedSource => ({
  id: `src_${name}`,
  slug: name,
  name,
  engine: "sqlite",
  tags: [],
  environment: null,
  agent_id: "agent_1",
  state: "proven",
  concerns: [],
  last_backup_at: null,
  last_proven_at: null,
  next_backup_at: null,
  ...more,
});
const sources = [
  source("orders", { state: "failed", last_backup_at: "2026-11-21T00:00:00Z" }),
  source("billing", { state: "missed", engine: "postgresql", last_backup_at: "2026-11-20T00:00:00Z" }),
  source("archive", { tags: ["old"], environment: "staging", last_proven_at: "2026-11-20T00:00:00Z" }),
];
const names = (filter: Parameters<typeof arranged>[1]) => arranged(sources, filter).map(({ name }) => name);

test("sources keep the service's order, worst first", () => {
  expect(names({})).toEqual(["orders", "billing", "archive"]);
  expect(names({ sort: "trouble" })).toEqual(["orders", "billing", "archive"]);
});

test('sources sort in other orders, where "never" counts as oldest', () => {
  expect(names({ sort: "name" })).toEqual(["archive", "billing", "orders"]);
  expect(names({ sort: "backup" })).toEqual(["archive", "billing", "orders"]);
  expect(names({ sort: "proof" })).toEqual(["orders", "billing", "archive"]);
});

test("sources filter by part of the name, by engine and by state", () => {
  expect(names({ name: " BILL" })).toEqual(["billing"]);
  expect(names({ name: "sqlite" })).toEqual(["orders", "archive"]);
  expect(names({ state: "failed" })).toEqual(["orders"]);
  expect(names({ state: "none" })).toEqual([]);
});

test("sources filter by tag and environment", () => {
  expect(names({ tag: "old" })).toEqual(["archive"]);
  expect(names({ environment: "staging", state: "failed" })).toEqual([]);
});
