import { Gauge, type Registry } from "prom-client";
import type { Logger } from "../platform/logging/logger.ts";
import { countOpenFiles, type OpenFiles } from "../platform/files/open-files.ts";

const LOOK_EVERY_MS = 5000;
/** Each connection needs a file, and so does every other thing that the service does. */
const FEW_LEFT = 0.9;
/** So long there must be enough again, before it is said that there are. */
const CALM_LOOKS = 12;

export interface OpenFilesWatch {
  /** For `/readyz`. */
  warnings: () => string[];
  stop: () => void;
}

/**
 * A process that has used up its open files accepts connections only to close them, and the system
 * tells it nothing about that: the log, `/readyz` and the metrics do.
 */
export function watchOpenFiles(
  logger: Logger,
  registry: Registry,
  { every_ms = LOOK_EVERY_MS, count = countOpenFiles } = {},
): OpenFilesWatch {
  let now: OpenFiles | null = null;
  let isLooking = false;
  let areFewLeft = false;
  let calm = 0;
  const look = async (): Promise<void> => {
    now = await count(now);
    if (now === null) return;
    const { open, limit } = now;
    calm = open < limit * FEW_LEFT ? calm + 1 : 0;
    if (calm === 0 && !areFewLeft) {
      areFewLeft = true;
      logger.warn(
        { open, limit },
        "this process may open hardly any more files and connections, and refuses what is beyond: raise the limit (LimitNOFILE= of the systemd unit, --ulimit nofile= of the container, or ulimit -n), or see who connects",
      );
    }
    if (calm < CALM_LOOKS || !areFewLeft) return;
    areFewLeft = false;
    logger.info({ open, limit }, "this process may open enough files and connections again");
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, every_ms).unref();
  const gauge = (name: string, help: string, value: (files: OpenFiles) => number): void => {
    new Gauge({
      name: `attestore_${name}`,
      help,
      registers: [registry],
      async collect() {
        now = await count(now);
        if (now !== null && Number.isFinite(now.limit)) this.set(value(now));
        else this.remove();
      },
    });
  };
  gauge("open_files", "Files and connections that this process has open.", ({ open }) => open);
  gauge("open_files_limit", "Files and connections that this process may have open.", ({ limit }) => limit);
  return {
    warnings: () => (areFewLeft ? ["few_open_files_left"] : []),
    stop: () => clearInterval(timer),
  };
}
