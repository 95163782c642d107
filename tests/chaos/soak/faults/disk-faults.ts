import { setTimeout as delay } from "node:timers/promises";
import type { HostAgent } from "../host-agent.ts";
import type { SmallDisk } from "../../../../packages/host/test/small-disk.ts";
import type { Fault } from "./fault.ts";

const MIB = 1024 ** 2;

/** The service's disk, which its database and its objects share. */
export function diskFaults(disk: SmallDisk, agent: HostAgent): Fault[] {
  return [
    {
      name: "the service's disk is full",
      area: "disk",
      strike: async (random) => {
        disk.fill();
        await delay(random.between(500, 5000));
        disk.empty();
      },
    },
    {
      name: "the object store is full",
      area: "disk",
      strike: async (random) => {
        disk.fill(100 * MIB);
        try {
          await agent.ask("backup");
          await delay(random.between(2000, 6000));
        } finally {
          disk.empty();
        }
      },
    },
  ];
}
