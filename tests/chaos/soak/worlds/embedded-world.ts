import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { startServer } from "../../../e2e/harness/server.ts";
import { agentFaults } from "../faults/agent-faults.ts";
import { embeddedDatabaseFaults } from "../faults/database-faults.ts";
import { diskFaults } from "../faults/disk-faults.ts";
import { networkFaults } from "../faults/network-faults.ts";
import { serviceFaults, workerFaults } from "../faults/service-faults.ts";
import { Proxy } from "../proxy.ts";
import { SmallDisk } from "../../../../packages/host/test/small-disk.ts";
import { SETTINGS, through, type World } from "./world.ts";

const WORKERS = 2;
/**
 * Uploads leave 256 MiB of it free for the database. Each receipt takes 4 KiB there, and the log of
 * its transactions up to 1 GiB.
 */
const DISK_BYTES = 8192 * 1024 ** 2;

/** One service of two workers with its own PostgreSQL, all data on one small disk. */
export async function startEmbeddedWorld(base: string): Promise<World> {
  const directory = join(base, "service");
  mkdirSync(directory);
  const disk = new SmallDisk(directory, { bytes: DISK_BYTES, mode: "0755" });
  const outside = process.env["TMPDIR"];
  process.env["TMPDIR"] = directory;
  const server = await startServer({ ...SETTINGS, ATTESTORE_WORKERS: String(WORKERS) });
  if (outside === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = outside;
  const link = await Proxy.open(server.port);
  return {
    name: "embedded",
    about: `one service of ${WORKERS} workers with its own PostgreSQL, objects on its disk`,
    replicas: [server],
    hostEnvironment: {},
    entrances: [through(server, link)],
    query: async <Row extends object>(text: string, values: unknown[] = []) => {
      const file = readFileSync(join(server.data, "postgres", "data", "postmaster.pid"), "utf8").split("\n");
      return queryAt<Row>({ host: file[4] ?? "", user: "attestore", database: "postgres" }, text, values);
    },
    faults: (agent) => [
      ...serviceFaults([server]),
      ...workerFaults(server, WORKERS),
      ...embeddedDatabaseFaults(server),
      ...networkFaults("agents and service", [link]),
      ...diskFaults(disk, agent),
      ...agentFaults(agent),
    ],
    close: async () => {
      await link.close();
      await server.remove();
    },
  };
}

export async function queryAt<Row extends object>(
  connection: pg.ClientConfig,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
