import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { descendants, processesUnder } from "../../../e2e/harness/processes.ts";
import type { Server } from "../../../e2e/harness/server.ts";
import { until } from "../../../e2e/harness/wait.ts";
import type { PostgresPair } from "../postgres-pair.ts";
import type { Fault } from "./fault.ts";
import { standStill } from "./service-faults.ts";

/** The PostgreSQL that the service itself starts, and starts again. */
export function embeddedDatabaseFaults(server: Server): Fault[] {
  const end = (name: string, signal: NodeJS.Signals): Fault => ({
    name,
    area: "database",
    strike: async () => {
      const pid = postmasterPid(server);
      process.kill(pid, signal);
      await until("another PostgreSQL is up", () => {
        const now = postmasterPid(server);
        return !Number.isNaN(now) && now !== pid && postmasters(server) === 1;
      });
    },
  });
  return [
    end("kill -9 of PostgreSQL", "SIGKILL"),
    end("immediate stop of PostgreSQL", "SIGQUIT"),
    {
      name: "PostgreSQL stands still (SIGSTOP, SIGCONT)",
      area: "database",
      strike: async (random) => {
        const pid = postmasterPid(server);
        await standStill([{ pid, command: "" }, ...descendants(pid)], random.between(500, 5000));
      },
    },
  ];
}

function postmasterPid(server: Server): number {
  try {
    const file = join(server.data, "postgres", "data", "postmaster.pid");
    return Number(readFileSync(file, "utf8").split("\n")[0]);
  } catch {
    return NaN; // Between two servers.
  }
}

function postmasters(server: Server): number {
  return processesUnder(server.data).filter(({ command }) => /\bpostgres -D /.test(command)).length;
}

/** A primary with a standby that each commit waits for. */
export function pairFaults(pair: PostgresPair): Fault[] {
  return [
    {
      name: "kill -9 of PostgreSQL",
      area: "database",
      strike: async (random) => {
        await pair.endPrimary("SIGKILL");
        await delay(random.between(0, 1000));
        await pair.startPrimary();
      },
    },
    {
      name: "immediate stop of PostgreSQL",
      area: "database",
      strike: async (random) => {
        await pair.endPrimary("SIGQUIT");
        await delay(random.between(0, 1000));
        await pair.startPrimary();
      },
    },
    {
      name: "failover to the synchronous standby",
      area: "database",
      strike: async (random) => {
        await pair.endPrimary(random.pick(["SIGKILL", "SIGQUIT", "SIGINT"] as const));
        await delay(random.between(0, 1000));
        await pair.promote();
      },
    },
    {
      name: "the standby stands still, and commits wait",
      area: "database",
      strike: async (random) => {
        await standStill(pair.processesOf("standby"), random.between(500, 5000));
      },
    },
    {
      name: "PostgreSQL stands still (SIGSTOP, SIGCONT)",
      area: "database",
      strike: async (random) => {
        await standStill(pair.processesOf("primary"), random.between(500, 5000));
      },
    },
  ];
}
