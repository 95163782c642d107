import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, request } from "node:https";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../../tests/e2e/harness/free-port.ts";
import { expect, inject } from "vitest";
import { putTestCluster } from "./database/test-database.ts";
import { processesWorkingIn } from "../src/platform/postgres/process-state.ts";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Finished {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/**
 * For tests: `attestore-server` as a process of its own, on a data directory and a port of its own.
 */
export class TestServer {
  readonly data: string;
  readonly port: number;
  readonly connections = new Agent({ keepAlive: true });
  readonly #started: ChildProcess[] = [];

  /** An empty database is there already, unless it is about what a first start makes. */
  static async create({ first = false } = {}): Promise<TestServer> {
    const root = await mkdtemp(join(tmpdir(), "server-"));
    await chmod(root, 0o711);
    const server = new TestServer(root, await freePort());
    if (!first) await server.#putCluster();
    return server;
  }

  constructor(root: string, port: number) {
    this.data = join(root, "data");
    this.port = port;
  }

  async #putCluster(): Promise<void> {
    await mkdir(this.data, { mode: 0o711 });
    await putTestCluster(this.data);
  }

  get cluster(): string {
    return join(this.data, "postgres", "data");
  }

  run(
    args: string[],
    environment: NodeJS.ProcessEnv = {},
  ): { process: ChildProcess; said(text: string): Promise<void>; finished: Promise<Finished> } {
    const child = spawn(process.execPath, [inject("service"), ...args], {
      env: {
        PATH: process.env["PATH"],
        // What Node compiled of the same sources before: a third of a start.
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        ATTESTORE_DATA: this.data,
        ATTESTORE_LISTEN: `127.0.0.1:${this.port}`,
        ATTESTORE_WORKERS: "1",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#started.push(child);
    const output = { stdout: "", stderr: "" };
    const waiting = new Set<() => void>();
    for (const name of ["stdout", "stderr"] as const) {
      createInterface({ input: child[name] }).on("line", (line) => {
        output[name] += `${line}\n`;
        for (const look of waiting) look();
      });
    }
    const finished = once(child, "close").then(([exitCode]) => ({
      exitCode: exitCode as number | null,
      ...output,
    }));
    const said = (text: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (output.stdout.includes(text)) resolve();
        };
        waiting.add(look);
        look();
        void finished.then((end) => reject(new Error(`it ended: ${JSON.stringify(end)}`)));
      });
    return { process: child, said, finished };
  }

  /** What a command says with `--json`, if it succeeds without a word on stderr. */
  async json(...args: string[]): Promise<Record<string, unknown>> {
    const { exitCode, stdout, stderr } = await this.run([...args, "--json"]).finished;
    expect([exitCode, stderr], stdout + stderr).toEqual([0, ""]);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** The same of a command whose answer is a list. */
  async list(...args: string[]): Promise<Record<string, unknown>[]> {
    return (await this.json(...args)) as unknown as Record<string, unknown>[];
  }

  /** Runs `serve` until it listens. */
  async serve(
    environment: NodeJS.ProcessEnv = {},
  ): Promise<{ process: ChildProcess; finished: Promise<Finished>; said(text: string): Promise<void> }> {
    const running = this.run(["serve"], environment);
    await running.said('"listening"');
    return running;
  }

  async begin(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    agent = this.connections,
  ): Promise<ClientRequest> {
    const ca = await readFile(join(this.data, "tls", "ca.pem"));
    return request({
      host: "127.0.0.1",
      servername: "localhost",
      port: this.port,
      ca,
      method,
      path,
      headers,
      agent,
    });
  }

  async send(method: string, path: string, body?: object, token?: string): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers: Record<string, string> = {};
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    if (text !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = String(Buffer.byteLength(text));
    }
    const sent = await this.begin(method, path, headers);
    sent.end(text);
    return answerTo(sent);
  }

  async remove(): Promise<void> {
    await this.end();
    await rm(join(this.data, ".."), { recursive: true, force: true });
  }

  /** Kills what was started, and leaves the files. */
  async end(): Promise<void> {
    this.connections.destroy();
    for (const child of this.#started) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
    while ((await processesWorkingIn(this.cluster).catch(() => [])).length > 0) await delay(20);
  }
}

export async function answerTo(sent: ClientRequest): Promise<Answer> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}
