import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePostmasterPid } from "./postmaster-pid.ts";

const READY =
  "1234\n/data/postgres/data\n1700000000\n5432\n/run/attestore-a1B2c3/socket\n\n  1234  5678\nready   \n";

test("the parser of postmaster.pid reads what a running server wrote", () => {
  expect(parsePostmasterPid(READY)).toEqual({
    pid: 1234,
    port: 5432,
    socketDirectory: "/run/attestore-a1B2c3/socket",
    ready: true,
    stopping: false,
  });
  expect(parsePostmasterPid(READY.replace("ready   ", "starting"))?.ready).toBe(false);
  expect(parsePostmasterPid(READY.replace("ready   ", "stopping"))).toMatchObject({
    ready: false,
    stopping: true,
  });
});

test("a file that is still being written is not ready; an empty one is none", () => {
  for (let length = 5; length < READY.length - 4; length += 1) {
    expect(parsePostmasterPid(READY.slice(0, length))?.ready, String(length)).toBe(false);
  }
  expect(parsePostmasterPid("")).toBeNull();
  expect(parsePostmasterPid("-1234\n")).toBeNull();
});

test("the parser of postmaster.pid never throws", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      parsePostmasterPid(text);
    }),
  );
});
