import { expect, it } from "vitest";
import { keptBy } from "./keep-rules.ts";

const NONE = { last: 0, days: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 };
const now = new Date("2026-11-21T12:00:00Z");
const backups = [1, 2, 3, 4].map((day) => ({ id: `day-${day}`, at: `2026-11-0${day}T02:00:00.000Z` }));
const kept = (ever: string[], lately: string[], clean = lately) =>
  Object.fromEntries(
    keptBy(
      backups,
      { ...NONE, last: 1 },
      { passed: { ever: new Set(ever), lately: new Set(lately), clean: new Set(clean) }, now },
    ),
  );

it("the newest that passed a restore test stays, whatever the rules say", () => {
  expect(kept(["day-1", "day-2"], ["day-1", "day-2"])).toEqual({ "day-4": ["last"], "day-2": ["proven"] });
  expect(kept(["day-4"], ["day-4"])).toEqual({ "day-4": ["last", "proven"] });
  expect(kept([], [])).toEqual({ "day-4": ["last"] });
});

it("a good backup is never dropped in favour of a newer one that fails", () => {
  expect(kept(["day-1", "day-2", "day-3"], ["day-1", "day-2"])).toEqual({
    "day-4": ["last"],
    "day-3": ["proven"],
    "day-2": ["proven"],
  });
});

it("the last clean backup stays while later ones are suspicious", () => {
  const all = ["day-1", "day-2", "day-3"];
  expect(kept(all, all, ["day-1"])).toEqual({ "day-4": ["last"], "day-3": ["proven"], "day-1": ["clean"] });
  expect(kept(all, all, all)).toEqual({ "day-4": ["last"], "day-3": ["proven"] });
});

const noneProven = { ever: new Set<string>(), lately: new Set<string>(), clean: new Set<string>() };
const ids = (rules: object, all = backups): string[] =>
  [...keptBy(all, { ...NONE, ...rules }, { passed: noneProven, now }).keys()].toSorted();

it("days count from the newest backup: a pause in backups removes nothing", () => {
  expect(ids({ days: 2 })).toEqual(["day-3", "day-4"]);
});

it("a backup dated in the future removes no other", () => {
  const future = { id: "future", at: "2099-01-01T00:00:00.000Z" };
  const today = { id: "today", at: "2026-11-21T02:00:00.000Z" };
  expect(ids({ days: 2 }, [...backups, today, future])).toEqual(["future", "today"]);
});

it("while fewer months have a backup than the rule keeps, the oldest stays too", () => {
  expect(ids({ monthly: 3 })).toEqual(["day-1", "day-4"]);
});
