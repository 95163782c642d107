import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { putTestCluster } from "../../../packages/orchestrator/test/database/test-database.ts";
import { processesUnder } from "./processes.ts";
import { run, runJson, start, type Environment, type Finished, type Running } from "./programs.ts";
import { until } from "./wait.ts";

/** A real orchestrator on a data directory of its own. */
export interface Server {
  port: number;
  url: string;
  data: string;
  caFile: string;
  ca: string;
  connections: Agent;
  /** All that the service has printed since the first start. */
  talk: () => string;
  /** The process that was started; null while none runs. */
  pid: () => number | null;
  cli: (...args: string[]) => Promise<Finished>;
  cliJson: <T>(...args: string[]) => Promise<T>;
  start: () => Promise<void>;
  stop: () => Promise<Finished>;
  kill: () => Promise<void>;
  /** Stops it and removes its data; throws when a process of it is left behind. */
  remove: () => Promise<void>;
}

/** `prepare` puts into the data directory what has to be there before the first start. */
export async function startServer(
  settings: Environment = {},
  prepare: (data: string) => void = () => undefined,
): Promise<Server> {
  const data = mkdtempSync(join(tmpdir(), "attestore-e2e-server-"));
  prepare(data);
  // That a first start makes its database is shown by the service's own tests.
  if (settings["DATABASE_URL"] === undefined) await putTestCluster(data);
  // Its database's user may enter, so the database runs in place, where processesUnder sees it.
  chmodSync(data, 0o711);
  const port = await freePort();
  const url = `https://localhost:${port}`;
  const env = {
    ATTESTORE_DATA: data,
    ATTESTORE_LISTEN: `127.0.0.1:${port}`,
    ATTESTORE_PUBLIC_URL: url,
    // Several are what tests/chaos/workers.long.test.ts is about.
    ATTESTORE_WORKERS: "1",
    ...settings,
  };
  const caFile = join(data, "tls", "ca.pem");
  const connections = new Agent({ keepAlive: true, maxSockets: 64 });
  let running: Running | undefined;
  let before = "";

  const launch = async (): Promise<void> => {
    const started = start("attestore-server", ["serve"], env);
    running = started;
    let over: Finished | undefined;
    // Whoever ends it is told if it stays.
    void started.finished.then(
      (finished) => (over = finished),
      () => undefined,
    );
    await until(
      "the orchestrator listens",
      () => {
        if (over) throw new Error(`attestore-server serve: exit code ${over.code}\n${started.talk()}`);
        return started.talk().includes("listening") && existsSync(caFile);
      },
      150,
    );
  };
  const end = async (signal: NodeJS.Signals): Promise<Finished> => {
    if (!running) throw new Error("the orchestrator does not run");
    const ending = running;
    running = undefined;
    ending.child.kill(signal);
    const finished = await ending.finished;
    before += ending.talk();
    connections.destroy();
    return finished;
  };

  try {
    await launch();
  } catch (error) {
    if (running) await end("SIGKILL").catch(() => undefined);
    await sweep(data);
    throw error;
  }
  return {
    port,
    url,
    data,
    caFile,
    ca: readFileSync(caFile, "utf8"),
    connections,
    talk: () => before + (running?.talk() ?? ""),
    pid: () => running?.child.pid ?? null,
    cli: (...args) => run("attestore-server", args, env),
    cliJson: (...args) => runJson("attestore-server", args, env),
    start: launch,
    stop: () => end("SIGTERM"),
    kill: async () => {
      await end("SIGKILL");
    },
    remove: async () => {
      const finished = running ? await end("SIGTERM") : undefined;
      const left = await sweep(data);
      if (finished && finished.code !== 0) {
        throw new Error(
          `the orchestrator ended with ${finished.code ?? finished.signal}\n${finished.stderr}`,
        );
      }
      if (left.length > 0) throw new Error(`the orchestrator left processes behind: ${left.join("; ")}`);
    },
  };
}

/** Ends what still runs on the directory, then removes it; answers what had to be ended. */
async function sweep(data: string): Promise<string[]> {
  let left = processesUnder(data);
  await until("its processes end", () => (left = processesUnder(data)).length === 0, 30).catch(
    () => undefined,
  );
  for (const { pid } of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  await until("its processes are gone", () => processesUnder(data).length === 0, 30);
  rmSync(data, { recursive: true, force: true });
  return left.map(({ pid, command }) => `${pid} ${command}`);
}
