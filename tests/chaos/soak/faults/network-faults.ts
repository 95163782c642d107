import { setTimeout as delay } from "node:timers/promises";
import { NETWORK_TROUBLES, type Proxy } from "../proxy.ts";
import type { Fault } from "./fault.ts";

/** Each kind of trouble on a way through the network; of several links one at a time has it. */
export function networkFaults(way: string, links: readonly Proxy[] | readonly (readonly Proxy[])[]): Fault[] {
  const groups: readonly (readonly Proxy[])[] = links.map((link) => ("port" in link ? [link] : link));
  return NETWORK_TROUBLES.map((trouble) => ({
    name: `network between ${way}: ${trouble}`,
    area: "network",
    isRare: trouble === "half-open",
    strike: async (random) => {
      const group = random.pick(groups);
      for (const link of group) link.begin(trouble);
      await delay(trouble === "reset" ? 0 : random.between(500, 5000));
      for (const link of group) link.heal();
    },
  }));
}
