import type { Schemas } from "@attestore/contract/client";
import { expect, test } from "vitest";
import { groupsFor } from "../navigation.ts";
import { matching, paletteItems } from "./palette-items.ts";

const source = (id: string, name: string, last_backup_at: string | null) => ({
  id,
  name,
  engine: "postgresql",
  last_backup_at,
});
const overview = {
  sources: [source("src_1", "orders-db", "2026-11-21T08:00:00.000Z"), source("src_2", "new-orders", null)],
  agents: [{ id: "agent_1", name: "host-1" }],
} as unknown as Schemas["Overview"];
const receipts = [
  { id: "rcpt_1", source_id: "src_1", kind: "restore_test", result: "passed" },
] as unknown as Schemas["ReceiptRecord"][];
const places = groupsFor("owner").flatMap((group) => group.places);
const all = paletteItems({ places, overview, receipts, mayManage: true });
const found = (typed: string) => matching(all, typed).map(({ label }) => label);

test("the palette finds sources, agents, receipts, pages and actions by any of their words", () => {
  expect(found("orders")).toEqual([
    "orders-db",
    "new-orders",
    "Back up now: orders-db",
    "Test a restore now: orders-db",
    "Back up now: new-orders",
    "Restore test passed: orders-db",
  ]);
  expect(found("HOST")[0]).toBe("host-1");
  expect(found("rcpt_1")).toEqual(["Restore test passed: orders-db"]);
  expect(found("now orders test")).toEqual(["Test a restore now: orders-db"]);
  expect(found("postgresql")).toEqual(["orders-db", "new-orders"]);
  expect(found("rece")[0]).toBe("Receipts");
  expect(found("nothing of the kind")).toEqual([]);
  expect(found("")).toHaveLength(12);
});

test("the palette offers no action that starts something to somebody who may not start it", () => {
  const reading = paletteItems({ places, overview, receipts, mayManage: false });
  expect(reading.filter(({ choice }) => "run" in choice)).toEqual([]);
  expect(matching(reading, "attach")).toEqual([]);
});
