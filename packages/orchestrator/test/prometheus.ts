import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../../tests/e2e/harness/free-port.ts";

/** One of Prometheus' answers. */
export interface Sample {
  metric: Record<string, string>;
}

export interface Prometheus {
  /** Nothing while it starts. */
  ask(query: string): Promise<Sample[]>;
  stop(): Promise<void>;
}

/** Debian's Prometheus, with that configuration, in a directory of its own. */
export async function startPrometheus(directory: string, config: string): Promise<Prometheus> {
  const file = join(directory, "prometheus.yaml");
  await writeFile(file, config);
  const port = await freePort();
  const child = spawn(
    "prometheus",
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, "tsdb")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore" },
  );
  return {
    async ask(query) {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`;
      const answer = await fetch(url).catch(() => null);
      if (answer?.ok !== true) return [];
      const { data } = (await answer.json()) as { data: { result: Sample[] } };
      return data.result;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "close");
      child.kill("SIGTERM");
      await ended;
    },
  };
}
