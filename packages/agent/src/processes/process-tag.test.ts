import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isAlive, isProcessTag, ownProcessTag } from "./process-tag.ts";

test("this process counts as alive", () => {
  expect(isProcessTag(ownProcessTag())).toBe(true);
  expect(isAlive(ownProcessTag())).toBe(true);
});

test("an ended process does not count as alive, nor does another one with its id", async () => {
  const child = spawn("sleep", ["60"]);
  await once(child, "spawn");
  const [, ...rest] = ownProcessTag().split("-");
  const stat = readFileSync(`/proc/${child.pid}/stat`, "latin1");
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  const tag = [child.pid, start, ...rest.slice(1)].join("-");
  expect(isAlive(tag)).toBe(true);
  // The same id, another start: that is what a recycled id looks like.
  expect(isAlive([child.pid, Number(start) + 1, ...rest.slice(1)].join("-"))).toBe(false);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(isAlive(tag)).toBe(false);
});

test("after a reboot no tag counts as alive, and a tag of another namespace always does", () => {
  const [pid, start, boot, namespace] = ownProcessTag().split("-");
  expect(isAlive([pid, start, boot === "00000000" ? "00000001" : "00000000", namespace].join("-"))).toBe(
    false,
  );
  expect(isAlive(["1", "1", boot, `${namespace}9`].join("-"))).toBe(true);
});

test.each(["", "1", "1-2-3-4", "0-1-00000000-1", "1-1-00000000-1/..", "1-1-0000000g-1"])(
  "%j is no tag",
  (text) => {
    expect(isProcessTag(text)).toBe(false);
    expect(isAlive(text)).toBe(false);
  },
);
