import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../../../e2e/harness/programs.ts";
import { exchange } from "../../../e2e/harness/https.ts";
import type { Server } from "../../../e2e/harness/server.ts";
import { until } from "../../../e2e/harness/wait.ts";
import type { Fault } from "./fault.ts";

/** Debian's `faketime`. */
const LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/** Has a program read its clock's error from the file, each second. */
export function fakeClock(file: string): Environment {
  if (!existsSync(LIBRARY)) throw new Error(`${LIBRARY} is missing: apt-get install faketime`);
  writeFileSync(file, "+0\n");
  return {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}

export function clockFaults(server: Server, file: string): Fault[] {
  const off = (name: string, seconds: number): Fault => ({
    name,
    area: "clock",
    isRare: true,
    strike: async (random) => {
      writeFileSync(file, `${seconds > 0 ? "+" : ""}${seconds}\n`);
      try {
        await until(
          "readyz tells of the clock",
          async () => (await exchange(server, { method: "GET", path: "/readyz" })).status === 503,
        );
        await delay(random.between(500, 3000));
      } finally {
        writeFileSync(file, "+0\n");
      }
      await until(
        "readyz is well again",
        async () => (await exchange(server, { method: "GET", path: "/readyz" })).status === 200,
      );
    },
  });
  return [
    off("a replica's clock is two minutes fast", 120),
    off("a replica's clock is two minutes slow", -120),
  ];
}
