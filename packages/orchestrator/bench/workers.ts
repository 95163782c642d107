/**
 * Receipts a second of a whole `attestore-server serve` with its embedded PostgreSQL, by the number
 * of its workers, and by who hands out connections: the primary in turn, or the kernel.
 *
 *   node packages/orchestrator/bench/workers.ts [--workers 1,2,2-shared] [--warm-up 6] [--seconds 8]
 *     [--rounds 3] [--connections 128] [--organisations 1,30]
 *
 * They take turns in one invocation under the same load generator, which shares the machine with
 * them: compare the lines of one table, and their CPU times before their rates. Prints a table in
 * Markdown: medians of the rounds.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { writeEncryptedDump, declareSource } from "../../../tests/e2e/harness/backups.ts";
import { attach, createOrganisation } from "../../../tests/e2e/harness/organisation.ts";
import { type Server, startServer } from "../../../tests/e2e/harness/server.ts";
import type { Submitter } from "./envelopes.ts";
import { LoadProcess } from "./load-process.ts";
import { markdownTable, type Measured } from "./table.ts";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "1,2,2-shared" },
    "warm-up": { type: "string", default: "6" },
    seconds: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "128" },
    organisations: { type: "string", default: "1,30" },
  },
});
const seconds = Number(values.seconds);
const warmUpSeconds = Number(values["warm-up"]);

interface Contender {
  name: string;
  server: Server;
  submitters: Submitter[];
}

const load = new LoadProcess();
const most = Math.max(...values.organisations.split(",").map(Number));
const contenders: Contender[] = [];
for (const name of values.workers.split(",")) {
  const server = await startServer({
    ATTESTORE_WORKERS: name.replace("-shared", ""),
    ATTESTORE_RATE_DEFAULT: "1000000/60",
    // Node's own variable: workers accept from one shared socket.
    NODE_CLUSTER_SCHED_POLICY: name.endsWith("-shared") ? "none" : "rr",
  });
  const submitters: Submitter[] = [];
  for (let n = 0; n < most; n++) submitters.push(await addSubmitter(server));
  contenders.push({ name, server, submitters });
}
try {
  for (const organisations of values.organisations.split(",").map(Number)) {
    const rows = contenders.map(({ name }) => ({ name: `${name} workers`, rounds: [] as Measured[] }));
    for (let round = 0; round < Number(values.rounds); round++)
      for (const [index, { server, submitters }] of contenders.entries())
        rows[index]?.rounds.push(await measure(server, submitters.slice(0, organisations)));
    console.log(
      `\nOrganisations: ${organisations}; ${values.connections} connections; ${values.rounds} rounds of ${seconds} s; ${availableParallelism()} cores\n\n${markdownTable(rows)}`,
    );
  }
} finally {
  load.end();
  for (const { server } of contenders) await server.remove();
}

async function addSubmitter(server: Server): Promise<Submitter> {
  const agent = await attach(await createOrganisation(server));
  const backup = await writeEncryptedDump(agent, await declareSource(agent));
  return {
    orgId: agent.orgId,
    agentId: agent.id,
    token: agent.token,
    keyid: agent.signer.keyid,
    privateKey: agent.signer.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    backup: { id: backup.id, sourceId: backup.source_id, sha256: backup.sha256 },
  };
}

function measure(server: Server, submitters: Submitter[]): Promise<Measured> {
  return load.measure(server.pid(), {
    port: server.port,
    path: "/v1/receipts",
    caFile: server.caFile,
    submitters,
    warmUpSeconds,
    seconds,
    connections: Number(values.connections),
    prepare: Math.ceil((seconds + warmUpSeconds) * 6000),
    together: 1,
    repeat: false,
  });
}
