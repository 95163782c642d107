import { cpSync } from "node:fs";
import { join } from "node:path";
import { startS3Server } from "../../../e2e/harness/s3-server.ts";
import { startServer, type Server } from "../../../e2e/harness/server.ts";
import { until } from "../../../e2e/harness/wait.ts";
import { agentFaults } from "../faults/agent-faults.ts";
import { patroniFaults } from "../faults/patroni-faults.ts";
import { serviceFaults } from "../faults/service-faults.ts";
import { HAProxy } from "../haproxy.ts";
import { PatroniCluster } from "../patroni-cluster.ts";
import { queryAt } from "./embedded-world.ts";
import { SETTINGS, through, type World } from "./world.ts";

/** Two replicas behind HAProxy, on two PostgreSQL servers that Patroni leads behind another. */
export async function startPatroniWorld(base: string): Promise<World> {
  // If one part does not start, those that did are stopped.
  await using started = new AsyncDisposableStack();
  const cluster = await PatroniCluster.start(join(base, "patroni"));
  started.defer(() => cluster.close());
  const database = await HAProxy.toPrimary(base, cluster.members);
  started.defer(() => database.kill());
  const connection = { host: "127.0.0.1", port: database.port, user: "postgres" };
  const asAdmin = <Row extends object>(text: string): Promise<Row[]> =>
    queryAt<Row>({ ...connection, database: "postgres" }, text, []);
  // Until its first checks, HAProxy takes every server for one that is up.
  await until("HAProxy leads to the primary alone", async () => {
    const asked = Array.from({ length: 8 }, () =>
      asAdmin<{ standby: boolean }>("select pg_is_in_recovery() as standby"),
    );
    const answers = await Promise.allSettled(asked);
    return answers.every((one) => one.status === "fulfilled" && one.value[0]?.standby === false);
  });
  await asAdmin("create role service login createrole");
  await asAdmin("create database attestore owner service");
  const objects = await startS3Server({ tls: true });
  started.defer(() => objects.remove());
  const settings = {
    ...SETTINGS,
    ...objects.environment,
    DATABASE_URL: `postgresql://service@127.0.0.1:${database.port}/attestore?target_session_attrs=read-write`,
  };
  const server = await startServer(settings);
  started.defer(() => server.remove());
  const first: Server = { ...server, ca: server.ca + (objects.certificate ?? "") };
  const second = await startServer(settings, (data) => {
    // Replicas of one service have its keys, and agents know one authority.
    for (const shared of ["keys", "tls"])
      cpSync(join(first.data, shared), join(data, shared), { recursive: true, preserveTimestamps: true });
  });
  started.defer(() => second.remove());
  const service = await HAProxy.toReplicas(base, [first.port, second.port]);
  started.defer(() => service.kill());
  const running = started.move();
  return {
    name: "patroni",
    about:
      "two replicas behind HAProxy, on two PostgreSQL 15 that Patroni leads (etcd, strictly synchronous), objects in S3",
    replicas: [first, second],
    hostEnvironment: objects.environment,
    entrances: [through(first, service), through(first, service), through(second, service)],
    query: (text, values = []) => queryAt({ ...connection, database: "attestore" }, text, values),
    faults: (agent) => [
      ...serviceFaults([first, second]),
      ...patroniFaults(cluster, [database, service]),
      ...agentFaults(agent),
    ],
    close: () => running.disposeAsync(),
  };
}
