import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { largeWrites } from "./large-writes.ts";

/** Bytes that the first read of a pipe gives into which `seq` writes. */
function firstRead(env: Readonly<Record<string, string>>): number {
  const { stdout } = spawnSync("sh", ["-c", "seq 1 100000 | dd bs=1M count=1 status=none | wc -c"], {
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
  });
  return Number(stdout);
}

it("a program with the preloaded library writes 64 KiB at once", async () => {
  expect(firstRead(await largeWrites())).toBe(65_536);
});

it("a program runs unchanged where the preloaded library does not load", () => {
  const broken = { LD_PRELOAD: "/nonexistent/libstdbuf.so", _STDBUF_O: "65536" };
  const { stdout, status } = spawnSync("seq", ["1", "3"], {
    env: { ...process.env, ...broken },
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([0, "1\n2\n3\n"]);
});
