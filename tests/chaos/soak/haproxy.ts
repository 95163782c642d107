import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../e2e/harness/free-port.ts";
import { until } from "../../e2e/harness/wait.ts";
import type { PatroniMember } from "./patroni-cluster.ts";

/** One listening port of HAProxy, and the servers behind it. */
interface Way {
  readonly port: number;
  readonly text: string;
}

const COMMON = `defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
`;

/** Debian's HAProxy. What a server holds open ends when its check says that it is down. */
export class HAProxy {
  readonly port: number;
  readonly #file: string;
  #process: ChildProcess | null = null;

  private constructor(file: string, port: number) {
    this.#file = file;
    this.port = port;
  }

  /** To whichever member of the cluster is the primary. */
  static toPrimary(base: string, members: readonly PatroniMember[]): Promise<HAProxy> {
    return HAProxy.#open(join(base, "database.cfg"), (port) => ({
      port,
      text: `listen database
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
${members.map(({ name, port: to, statusPort }) => `  server ${name} 127.0.0.1:${to} check port ${statusPort}\n`).join("")}`,
    }));
  }

  /** To the replicas of the service that are ready. */
  static toReplicas(base: string, ports: readonly number[]): Promise<HAProxy> {
    return HAProxy.#open(join(base, "service.cfg"), (port) => ({
      port,
      text: `listen service
  bind 127.0.0.1:${port}
  option httpchk GET /readyz
  http-check expect status 200
${ports.map((to) => `  server s${to} 127.0.0.1:${to} check check-ssl verify none\n`).join("")}`,
    }));
  }

  static async #open(file: string, way: (port: number) => Way): Promise<HAProxy> {
    const { port, text } = way(await freePort());
    writeFileSync(file, COMMON + text);
    const proxy = new HAProxy(file, port);
    await proxy.start();
    return proxy;
  }

  async start(): Promise<void> {
    this.#process = spawn("haproxy", ["-q", "-f", this.#file], { stdio: "ignore" });
    await until("HAProxy listens", () => isOpen(this.port));
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
