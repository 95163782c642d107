import { expect, test } from "vitest";
import { concerns, topicsIn } from "./live-topics.ts";

test.each([
  [["overview", "org_1", 30], ["log"], true],
  [["orgs", "org_1", "receipts", "one", "rcpt_1"], ["log"], true],
  [["orgs", "org_1", "receipts", "one", "rcpt_1"], ["people"], false],
  [["orgs", "one", "org_1"], ["people"], true],
  [["orgs"], ["people"], true],
  [["auth-keys", "org_1"], ["auth_keys"], true],
  [["auth-keys", "org_1"], ["agents", "log"], false],
  [["backups", "bkp_1"], ["backups"], true],
  [["me"], ["people"], true],
  [["backups", "bkp_1"], ["something new"], false],
] as const)("%j after a change of %j: %j", (key, topics, expected) => {
  expect(concerns(key, topics)).toBe(expected);
});

test("an event's topics are parsed strictly", () => {
  expect(topicsIn('{"topics":["log","agents"]}')).toEqual(["log", "agents"]);
  for (const data of ["", "null", "{}", '{"topics":"log"}', '{"topics":[1]}', "<html>"])
    expect(topicsIn(data), data).toEqual([]);
});
