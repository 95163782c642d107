import { setTimeout as delay } from "node:timers/promises";
import type { HostAgent } from "../host-agent.ts";
import type { Fault } from "./fault.ts";

/** The agent of a host: killed at work, and without room. */
export function agentFaults(agent: HostAgent): Fault[] {
  const kill = (kind: "backup" | "restore_test", what: string): Fault => ({
    name: `kill -9 of the agent during a ${what}`,
    area: "agent",
    strike: async (random) => {
      await agent.settled();
      await agent.ask(kind);
      // A run takes about two seconds, with what it hands in.
      await delay(random.between(0, 2500));
      await agent.kill();
      agent.start();
      await agent.settled();
    },
  });
  return [
    kill("backup", "backup"),
    kill("restore_test", "restore test"),
    {
      name: "the agent's disk is full",
      area: "disk",
      strike: async (random) => {
        agent.disk.fill();
        try {
          await agent.ask(random.pick(["backup", "restore_test"] as const));
          await delay(random.between(2000, 5000));
        } finally {
          agent.disk.empty();
        }
      },
    },
  ];
}
