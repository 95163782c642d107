import type { Pool } from "pg";
import { type ServiceMetrics, createMetrics } from "../features/metrics/service-metrics.ts";
import { callRecords, type Submissions } from "../features/submissions/submit-entry.ts";
import type { CheckpointSigner } from "../log/checkpoints/checkpoint-signer.ts";
import { Sequencer } from "../log/sequencer/sequencer.ts";
import { openSequencerPool } from "../log/sequencer/sequencer-pool.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";
import type { Logger } from "../platform/logging/logger.ts";

export interface OpenSequencer {
  sequencer: Submissions;
  /** Connections that only the log uses. */
  pool: Pool;
  metrics: ServiceMetrics;
  /** Appends what is queued, then closes the connections. */
  close(): Promise<void>;
}

/** A replica's sequencer, on connections of its own, and the metrics that count its batches. */
export function openSequencer(
  connection: ConnectionSettings,
  signer: CheckpointSigner,
  logger: Logger,
  metrics = createMetrics(),
): OpenSequencer {
  const pool = openSequencerPool(connection, logger, { way: "log" });
  const sequencer = new Sequencer({
    pool,
    calls: callRecords,
    signer,
    logger,
    onBatch: metrics.onBatch,
  });
  return {
    sequencer,
    pool,
    metrics,
    close: async () => {
      await sequencer.close();
      await pool.end();
    },
  };
}
