import { cpSync } from "node:fs";
import { join } from "node:path";
import { startS3Server } from "../../../e2e/harness/s3-server.ts";
import { startServer, type Server } from "../../../e2e/harness/server.ts";
import { agentFaults } from "../faults/agent-faults.ts";
import { clockFaults, fakeClock } from "../faults/clock-faults.ts";
import { pairFaults } from "../faults/database-faults.ts";
import { networkFaults } from "../faults/network-faults.ts";
import { serviceFaults } from "../faults/service-faults.ts";
import { PostgresPair } from "../postgres-pair.ts";
import { Proxy } from "../proxy.ts";
import { queryAt } from "./embedded-world.ts";
import { SETTINGS, through, type World } from "./world.ts";

/** Two replicas on a PostgreSQL with a synchronous standby, objects in S3. */
export async function startReplicasWorld(base: string): Promise<World> {
  const pair = await PostgresPair.start(join(base, "postgres"));
  pair.sql("postgres", "create role service login createrole");
  pair.sql("postgres", "create database attestore owner service");
  const objects = await startS3Server({ tls: true });
  // Each replica has ways of its own to both servers.
  const toDatabase = [
    [await Proxy.open(pair.ports[0]), await Proxy.open(pair.ports[1])],
    [await Proxy.open(pair.ports[0]), await Proxy.open(pair.ports[1])],
  ] as const;
  const settings = (links: readonly Proxy[]): Record<string, string | undefined> => ({
    ...SETTINGS,
    ...objects.environment,
    DATABASE_URL: `postgresql://service@${links.map(({ port }) => `127.0.0.1:${port}`).join(",")}/attestore?target_session_attrs=read-write`,
  });
  const clock = join(base, "clock");
  const started = await startServer(settings(toDatabase[0]));
  const first: Server = { ...started, ca: started.ca + (objects.certificate ?? "") };
  const second = await startServer({ ...settings(toDatabase[1]), ...fakeClock(clock) }, (data) => {
    // Replicas of one service have its keys, and agents know one authority.
    for (const shared of ["keys", "tls"])
      cpSync(join(first.data, shared), join(data, shared), { recursive: true, preserveTimestamps: true });
  });
  // Agents of hosts come to whichever answers; the others choose by themselves.
  const toBoth = await Proxy.open(first.port, second.port);
  const toOne = [await Proxy.open(first.port), await Proxy.open(second.port)] as const;
  return {
    name: "replicas",
    about: "two replicas on a PostgreSQL 15 with a synchronous standby, objects in S3",
    replicas: [first, second],
    hostEnvironment: objects.environment,
    entrances: [through(first, toBoth), through(first, toOne[0]), through(second, toOne[1])],
    query: (text, values = []) =>
      queryAt(
        { host: "127.0.0.1", port: pair.primaryPort, user: "postgres", database: "attestore" },
        text,
        values,
      ),
    faults: (agent) => [
      ...serviceFaults([first, second]),
      ...pairFaults(pair),
      ...networkFaults("agents and service", [[toBoth], ...toOne.map((one) => [one]), [toBoth, ...toOne]]),
      ...networkFaults("service and database", [...toDatabase, toDatabase.flat()]),
      ...clockFaults(second, clock),
      ...agentFaults(agent),
    ],
    close: async () => {
      for (const link of [toBoth, ...toOne]) await link.close();
      await Promise.all([first.remove(), second.remove()]);
      for (const link of toDatabase.flat()) await link.close();
      await pair.close();
      await objects.remove();
    },
  };
}
