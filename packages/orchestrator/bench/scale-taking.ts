/** How fast receipts are taken by services whose organisations have few and many already. */
import { sha256, toHex } from "@attestore/proof";
import type { Server } from "../../../tests/e2e/harness/server.ts";
import type { Submitter } from "./envelopes.ts";
import { LoadProcess } from "./load-process.ts";
import type { History } from "./scale-history.ts";
import type { Measured } from "./table.ts";

const CONNECTIONS = 128;
const WARM_UP_S = 4;
const SECONDS = 6;

export interface Taking {
  name: string;
  server: Server;
  history: History;
}

/** They take turns, so that the rounds of all are adjacent runs. */
export async function measureTaking(
  services: readonly Taking[],
  rounds: number,
): Promise<{ name: string; rounds: Measured[] }[]> {
  const load = new LoadProcess();
  const rows = services.map(({ name }) => ({ name, rounds: [] as Measured[] }));
  try {
    for (let round = 0; round < rounds; round++)
      for (const [n, { server, history }] of services.entries()) {
        const measured = await load.measure(server.pid(), {
          port: server.port,
          path: "/v1/receipts",
          caFile: server.caFile,
          submitters: [submitterOf(history)],
          warmUpSeconds: WARM_UP_S,
          seconds: SECONDS,
          connections: CONNECTIONS,
          prepare: (WARM_UP_S + SECONDS) * 6000,
          together: 1,
          repeat: false,
        });
        rows[n]?.rounds.push(measured);
      }
  } finally {
    load.end();
  }
  return rows;
}

/** The newest backup of the agent: older ones may have expired. */
function submitterOf({ orgId, agent, samples }: History): Submitter {
  const backup = samples.findLast(({ agentId }) => agentId === agent.id);
  if (backup === undefined) throw new Error("the agent has no backup");
  return {
    orgId,
    agentId: agent.id,
    token: agent.token,
    keyid: agent.keyFingerprint,
    privateKey: agent.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    backup: {
      id: `bkp_${backup.backupSuffix}`,
      sourceId: backup.sourceId,
      sha256: toHex(sha256(Buffer.from(backup.backupSuffix))),
    },
  };
}
