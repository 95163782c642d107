import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { ConnectionSettings } from "../../src/platform/database/connection-settings.ts";
import { processesWorkingIn } from "../../src/platform/postgres/process-state.ts";

const SCRIPT = fileURLToPath(new URL("./service-process.ts", import.meta.url));

/** What service-process.ts prints. */
export interface Line {
  level?: string;
  message?: string;
  ready?: boolean;
  opened?: ConnectionSettings;
  rows?: Record<string, unknown>[];
  /** All statements have run. */
  done?: boolean;
  failed?: string;
}

export interface TestService {
  process: ChildProcess;
  lines: Line[];
  /** The first line that fits, waited for if need be. */
  said(fits: (line: Line) => unknown): Promise<Line>;
  opened(): Promise<ConnectionSettings>;
  ended: Promise<number | null>;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * For tests: a data directory, and processes that open its database as services and commands do.
 */
export class TestServices {
  readonly root: string;
  data: string;
  readonly #services: TestService[] = [];

  static async create(): Promise<TestServices> {
    const root = await mkdtemp(join(tmpdir(), "pg-"));
    await chmod(root, 0o711);
    return new TestServices(root);
  }

  constructor(root: string) {
    this.root = root;
    this.data = join(root, "data");
  }

  get cluster(): string {
    return join(this.data, "postgres", "data");
  }

  /** `launcher` goes before the command, such as a setpriv. */
  start(
    role: "serve" | "command",
    statements: string[] = [],
    environment: NodeJS.ProcessEnv = {},
    launcher: string[] = [],
  ): TestService {
    const [file = "", ...args] = [...launcher, process.execPath, SCRIPT, role, this.data, ...statements];
    const child = spawn(file, args, {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: Line[] = [];
    const waiting = new Set<() => void>();
    createInterface({ input: child.stdout }).on("line", (text) => {
      lines.push(JSON.parse(text) as Line);
      for (const look of waiting) look();
    });
    const ended = once(child, "close").then(([code]) => code as number | null);
    const said = (fits: (line: Line) => unknown): Promise<Line> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(fits);
          if (found !== undefined) resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended after printing ${JSON.stringify(lines, null, 1)}`)));
      });
    const opened = async (): Promise<ConnectionSettings> => {
      const { opened: connection } = await said((line) => line.opened);
      if (connection === undefined) throw new Error("not opened");
      return connection;
    };
    const end = (signal: NodeJS.Signals): Promise<number | null> => {
      child.kill(signal);
      return ended;
    };
    const service = { process: child, lines, said, opened, ended, end };
    this.#services.push(service);
    return service;
  }

  async postmasterPid(): Promise<number> {
    return Number((await readFile(join(this.cluster, "postmaster.pid"), "utf8")).split("\n")[0]);
  }

  /** Until the server and all its processes have ended. */
  async nobodyWorksHere(): Promise<void> {
    while ((await processesWorkingIn(this.cluster)).length > 0) await delay(20);
  }

  async remove(): Promise<void> {
    for (const service of this.#services) await service.end("SIGKILL");
    for (const pid of await processesWorkingIn(this.cluster).catch(() => [])) kill(pid);
    await this.nobodyWorksHere().catch(() => undefined); // There may be no cluster.
    await rm(this.root, { recursive: true, force: true });
  }
}

/** kill -9 of a process that may have ended already. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has.
  }
}

export async function query(
  connection: ConnectionSettings,
  text: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
