/**
 * The load: a process of its own that keeps connections busy through node:https. Told a LoadOrder
 * it signs the requests, warms the server up, says "go" when the clock starts, and answers a
 * LoadResult.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { prepareReceipts, type Prepared, type Submitter } from "./envelopes.ts";

export interface LoadOrder {
  port: number;
  path: string;
  caFile: string;
  submitters: Submitter[];
  warmUpSeconds: number;
  seconds: number;
  connections: number;
  /** Receipts to prepare, and how many of them go in one call. */
  prepare: number;
  together: number;
  /** Whether to send them again when all are sent; for the service each has to be a new one. */
  repeat: boolean;
}

export interface LoadResult {
  receipts: number;
  seconds: number;
  /** CPU time of this process. */
  cpu_s: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  /** The last answer, to be looked at. */
  sample: string;
}

process.on("message", (order: LoadOrder) => {
  void run(order).then((result) => process.send?.(result));
});

async function run(order: LoadOrder): Promise<LoadResult> {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: order.connections,
    ca: readFileSync(order.caFile),
    servername: "localhost",
  });
  const prepared = prepareReceipts(order.submitters, order.prepare, order.together);
  // Handshakes are over before the clock starts, and so is just-in-time compilation, which takes
  // tens of thousands of requests.
  const share = order.warmUpSeconds / (order.warmUpSeconds + order.seconds);
  const warmUp = prepared.splice(0, Math.floor(prepared.length * share));
  await flood(warmUp, order, agent, performance.now() + order.warmUpSeconds * 1000);
  process.send?.("go");
  const started = performance.now();
  const cpu = process.cpuUsage();
  const { latencies, sample } = await flood(prepared, order, agent, started + order.seconds * 1000);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? NaN;
  return {
    receipts: latencies.length * order.together,
    seconds,
    cpu_s: (user + system) / 1e6,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: latencies.at(-1) ?? NaN,
    sample,
  };
}

async function flood(
  prepared: readonly Prepared[],
  { port, path, connections, repeat }: LoadOrder,
  agent: Agent,
  until: number,
): Promise<{ latencies: number[]; sample: string }> {
  const latencies: number[] = [];
  let sample = "";
  let next = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      const one = prepared[repeat ? next++ % prepared.length : next++];
      if (one === undefined) throw new Error("too few requests were prepared");
      const sent = performance.now();
      sample = await post(one, { port, path, agent });
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return { latencies, sample };
}

function post(
  { body, headers, receipts }: Prepared,
  to: { port: number; path: string; agent: Agent },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...to, host: "127.0.0.1", method: "POST", headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () => {
        const answer = Buffer.concat(chunks).toString();
        const lines = receipts === 1 ? [] : answer.trimEnd().split("\n");
        const isTaken =
          receipts === 1
            ? incoming.statusCode === 201
            : lines.length === receipts && lines.every((line) => line.startsWith('{"status":201,'));
        if (isTaken) resolve(lines.at(-1) ?? answer);
        else reject(new Error(`${incoming.statusCode} ${answer}`));
      });
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}
