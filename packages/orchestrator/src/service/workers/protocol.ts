import type { InstallationState } from "../../features/installation/installation.ts";
import type { Config } from "../../platform/config/read-config.ts";
import type { ConnectionSettings } from "../../platform/database/connection-settings.ts";
import type { LogFormat } from "../../platform/logging/stream-logger.ts";

/** Of `attestore-server serve`, for the processes that the primary starts. */
export const WORKER_OPTION = "--worker";

/** The first message to a worker. */
export interface WorkerStart {
  /** The primary's; the settings may have changed since it read them. */
  config: Config;
  connection: ConnectionSettings;
  worker: number;
  of: number;
  leads: boolean;
  isFirst: boolean;
  logFormat: LogFormat;
  /** The newest results of the worker that leads. */
  state: InstallationState | null;
  /** Of the primary's program. */
  version: string;
}

/** A signed head on its way between processes: origin, size, and root in hex. */
export type SentHead = [origin: string, size: number, root: string];
