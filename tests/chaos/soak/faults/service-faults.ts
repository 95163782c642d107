import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@attestore/host/errno";
import { descendants, type Process } from "../../../e2e/harness/processes.ts";
import type { Server } from "../../../e2e/harness/server.ts";
import { until } from "../../../e2e/harness/wait.ts";
import type { Fault } from "./fault.ts";

/** Whole processes of the service, one replica at a time. */
export function serviceFaults(replicas: readonly Server[]): Fault[] {
  return [
    {
      name: "kill -9 of the service",
      area: "service",
      strike: async (random) => {
        const server = random.pick(replicas);
        await server.kill();
        await delay(random.between(0, 500));
        await server.start();
      },
    },
    {
      name: "SIGTERM to the service",
      area: "service",
      strike: async (random) => {
        const server = random.pick(replicas);
        const { code, stderr } = await server.stop();
        if (code !== 0)
          throw new Error(`after SIGTERM the service ended with ${code}: ${stderr.slice(-2000)}`);
        await server.start();
      },
    },
    {
      name: "the service stands still (SIGSTOP, SIGCONT)",
      area: "service",
      strike: async (random) => {
        const server = random.pick(replicas);
        await standStill([mainOf(server), ...nodesOf(server)], random.between(500, 5000));
      },
    },
  ];
}

/** Single workers of a service that has several. */
export function workerFaults(server: Server, count: number): Fault[] {
  const workers = (): number[] =>
    nodesOf(server)
      .filter(({ command }) => command.includes("serve --worker"))
      .map(({ pid }) => pid);
  const another = (than: number): Promise<unknown> =>
    until(
      "another worker has started",
      () => !workers().includes(than) && workers().length === count,
      180,
    ).catch((error: Error) => {
      const found = nodesOf(server).map(({ pid, command }) => `${pid} ${command}`);
      throw new Error(`${error.message} in place of ${than}: ${found.join("; ")}`);
    });
  return [
    {
      name: "kill -9 of a worker",
      area: "service",
      strike: async (random) => {
        const pid = random.pick(workers());
        signal(pid, "SIGKILL");
        await another(pid);
      },
    },
    {
      name: "SIGHUP replaces the workers",
      area: "service",
      strike: async () => {
        const before = replaced(server);
        process.kill(server.pid() ?? NaN, "SIGHUP");
        await until("the workers were replaced", () => replaced(server) > before);
        await until("the former workers have ended", () => workers().length === count, 90);
      },
    },
    {
      name: "a worker stands still (SIGSTOP, SIGCONT)",
      area: "service",
      strike: async (random) => {
        const pid = random.pick(workers());
        await standStill([{ pid, command: "" }], random.between(500, 5000));
      },
    },
    {
      name: "a worker stands still until it is replaced",
      area: "service",
      isRare: true,
      strike: async (random) => {
        const pid = random.pick(workers());
        signal(pid, "SIGSTOP");
        await another(pid);
      },
    },
  ];
}

function replaced(server: Server): number {
  return server.talk().split('"the workers were replaced"').length;
}

function mainOf(server: Server): Process {
  return { pid: server.pid() ?? NaN, command: "" };
}

function nodesOf(server: Server): Process[] {
  return descendants(server.pid() ?? NaN).filter(({ command }) => /\bnode\b/.test(command));
}

export async function standStill(processes: readonly Process[], for_ms: number): Promise<void> {
  for (const { pid } of processes) signal(pid, "SIGSTOP");
  try {
    await delay(for_ms);
  } finally {
    for (const { pid } of processes) signal(pid, "SIGCONT");
  }
}

/** A worker that stood still for too long was replaced, and is gone. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
