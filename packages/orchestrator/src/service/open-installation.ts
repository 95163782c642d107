import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { Installation } from "../features/installation/installation.ts";
import { CheckpointSigner } from "../log/checkpoints/checkpoint-signer.ts";
import { committedHeads } from "../log/heads/committed-heads.ts";
import { orgOfOrigin } from "../log/heads/missing-heads.ts";
import { nameLostHead } from "../log/recovery/name-lost-heads.ts";
import { openSequencerPool } from "../log/sequencer/sequencer-pool.ts";
import { runInOrg } from "../platform/database/org-scope.ts";
import type { ServiceKeys } from "../platform/keys/service-keys.ts";
import { type Logger, silentLogger } from "../platform/logging/logger.ts";
import type { ObjectStore } from "../platform/objects/object-store.ts";
import type { Cleanup } from "./cleanup.ts";
import { LOOK_BACK_CONNECTIONS } from "./database-connections.ts";
import type { OpenDatabases } from "./open-databases.ts";
import type { WorkerParts } from "./worker-parts.ts";

const ASK_STORE_WITHIN_MS = 10_000;

export interface OpenInstallation {
  installation: Installation;
  signer: CheckpointSigner;
  /** One connection that reads the logs. */
  lookBack: Pool;
}

/**
 * The signer of checkpoints, once the database's logs contain the signed heads; and whether
 * database and object store belong together.
 */
export async function openInstallation(
  {
    keys,
    logHost,
    objects,
    worker,
    log,
  }: {
    keys: ServiceKeys;
    /** The host in the names of the logs. */
    logHost: string;
    objects: ObjectStore;
    worker: WorkerParts;
    log: Logger;
  },
  { connection, jobs, servers }: OpenDatabases,
  cleanup: Cleanup,
): Promise<OpenInstallation> {
  const { signed, leads } = worker;
  const lookBack = openSequencerPool(connection, log, { max: LOOK_BACK_CONNECTIONS, way: "log" });
  cleanup.add("the connection that looks back", () => lookBack.end());
  const signer = new CheckpointSigner(logHost, keys.log, { signed, ...committedHeads(lookBack) });
  worker.followHeads?.((heads) => signer.learn(heads));
  const installation = new Installation({
    db: jobs.database,
    pool: jobs.pool,
    objects,
    signed,
    signer,
    logger: leads ? log : silentLogger,
    isKeeper: leads,
    ...(leads
      ? {
          nameLost: (head) => {
            const orgId = orgOfOrigin(head.origin);
            return runInOrg(jobs.database, orgId, (tx) => nameLostHead(tx, orgId, head));
          },
        }
      : {}),
    ...(leads && worker.tellState !== undefined ? { onState: worker.tellState } : {}),
  });
  worker.followState?.((state) => installation.learn(state));
  // The first worker passes its results on to the others.
  if (!leads) return { installation, signer, lookBack };
  await installation.checkLogs();
  // So that what it says is as new as what the check of the server found.
  servers.onChecked(() => void installation.check());
  // A store that is unreachable at the moment does not keep the service from starting; until it
  // answers, nothing is deleted.
  await Promise.race([installation.check(), delay(ASK_STORE_WITHIN_MS, undefined, { ref: false })]);
  return { installation, signer, lookBack };
}
