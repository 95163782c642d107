import { Agent } from "node:https";
import type { Environment } from "../../../e2e/harness/programs.ts";
import type { Server } from "../../../e2e/harness/server.ts";
import type { Fault } from "../faults/fault.ts";
import type { Proxy } from "../proxy.ts";
import type { HostAgent } from "../host-agent.ts";

/** What is under test: a service with its database, and how agents and people reach it. */
export interface World {
  name: string;
  /** What runs, for people. */
  about: string;
  /** The processes themselves: to signal, and to ask when no fault is in the way. */
  replicas: readonly [Server, ...Server[]];
  /** As agents and people reach them. */
  entrances: readonly [Server, ...Server[]];
  /** For the real agent. */
  hostEnvironment: Environment;
  /** All rows, whatever the network does. */
  query: <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;
  faults: (agent: HostAgent) => Fault[];
  close: () => Promise<void>;
}

/** A server as a client sees it that comes through a proxy. */
export function through(server: Server, proxy: Pick<Proxy, "port">): Server {
  return {
    ...server,
    port: proxy.port,
    url: `https://localhost:${proxy.port}`,
    connections: new Agent({ keepAlive: true, maxSockets: 32 }),
  };
}

export const SETTINGS = {
  ATTESTORE_RATE_DEFAULT: "1000000/60",
  ATTESTORE_QUOTA_REQUESTS: "1000000/60",
  ATTESTORE_SHUTDOWN_S: "3",
  ATTESTORE_HEARTBEAT_INTERVAL_S: "5",
  // No fault takes so long.
  ATTESTORE_SILENT_AFTER_INTERVALS: "60",
  ATTESTORE_SCHEDULE_GRACE_S: "120",
};
