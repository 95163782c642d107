import { setTimeout as delay } from "node:timers/promises";
import type { HAProxy } from "../haproxy.ts";
import type { PatroniCluster } from "../patroni-cluster.ts";
import type { Fault } from "./fault.ts";
import { standStill } from "./service-faults.ts";

/** Failovers that Patroni decides, and losses of what it needs to decide. */
export function patroniFaults(cluster: PatroniCluster, proxies: readonly HAProxy[]): Fault[] {
  return [
    {
      name: "kill -9 of PostgreSQL",
      area: "database",
      strike: async () => {
        const primary = await cluster.settled();
        const [postmaster] = cluster.postgresOf(primary);
        process.kill(postmaster?.pid ?? NaN, "SIGKILL");
        await cluster.settled();
      },
    },
    {
      name: "the primary's machine is gone, and comes back as the standby",
      area: "database",
      strike: async () => {
        const primary = await cluster.settled();
        await cluster.killMember(primary);
        await cluster.takenOverBy(cluster.other(primary));
        cluster.startMember(primary);
        await cluster.settled();
      },
    },
    {
      name: "planned switchover",
      area: "database",
      strike: async () => {
        await cluster.switchOver(await cluster.settled());
        await cluster.settled();
      },
    },
    {
      name: "the primary's Patroni stands still until another is primary, and its PostgreSQL goes on",
      area: "database",
      strike: async (random) => {
        const primary = await cluster.settled();
        await whileStopped(cluster.patroniOf(primary), async () => {
          await cluster.takenOverBy(cluster.other(primary));
          await delay(random.between(0, 3000));
        });
        await cluster.settled();
      },
    },
    {
      name: "the primary's machine stands still until another is primary",
      area: "database",
      strike: async (random) => {
        const primary = await cluster.settled();
        const all = [...cluster.patroniOf(primary), ...cluster.postgresOf(primary)];
        await whileStopped(all, async () => {
          await cluster.takenOverBy(cluster.other(primary));
          await delay(random.between(0, 3000));
        });
        await cluster.settled();
      },
    },
    {
      name: "the standby's machine stands still, and commits wait",
      area: "database",
      strike: async (random) => {
        const standby = cluster.other(await cluster.settled());
        const all = [...cluster.patroniOf(standby), ...cluster.postgresOf(standby)];
        await standStill(all, random.between(500, 5000));
        await cluster.settled();
      },
    },
    {
      name: "etcd stands still",
      area: "database",
      strike: async (random) => {
        await cluster.settled();
        await standStill(cluster.etcd, random.between(500, 15_000));
        await cluster.settled();
      },
    },
    {
      name: "kill -9 of HAProxy",
      area: "network",
      strike: async (random) => {
        const proxy = random.pick(proxies);
        await proxy.kill();
        await delay(random.between(0, 2000));
        await proxy.start();
      },
    },
  ];
}

async function whileStopped(processes: readonly { pid: number }[], work: () => Promise<void>): Promise<void> {
  for (const { pid } of processes) process.kill(pid, "SIGSTOP");
  try {
    await work();
  } finally {
    for (const { pid } of processes) process.kill(pid, "SIGCONT");
  }
}
