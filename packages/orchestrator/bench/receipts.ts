/**
 * Receipts a second, each durable and answered with its proof, against a bare Fastify TLS echo of the same bodies.
 *
 *   node packages/orchestrator/bench/receipts.ts [--warm-up 10] [--seconds 10] [--rounds 3] [--connections 128] [--organisations 1,100]
 *
 * Echo and service take turns in one invocation under the same load generator, so that the ratio means something on a busy or
 * slow machine; the rates themselves only compare with those of the same run. Client, service and PostgreSQL share the machine.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { requireProven } from "./check-answer.ts";
import { cpuSeconds } from "./cpu-time.ts";
import type { Submitter } from "./envelopes.ts";
import type { LoadOrder, LoadResult } from "./load.ts";

const { values } = parseArgs({
  options: {
    "warm-up": { type: "string", default: "10" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "128" },
    organisations: { type: "string", default: "1,100" },
  },
});

interface Listening {
  port: number;
  submitters: Submitter[];
}

interface Measured extends LoadResult {
  /** CPU time of each, in µs a request. */
  cpu_us: { client: number; server: number; postgres: number };
}

const tlsDirectory = await mkdtemp(join(tmpdir(), "attestore-bench-"));
const load = start("load.ts", []);
const echo = start("echo-server.ts", [tlsDirectory]);
const echoListening = (await told(echo)) as Listening;
let met = true;
for (const organisations of values.organisations.split(",")) {
  const service = start("receipts-server.ts", [tlsDirectory, organisations]);
  const listening = (await told(service)) as Listening & { noteKey: string };
  const rounds: { echo: Measured; service: Measured }[] = [];
  for (let round = 0; round < Number(values.rounds); round++)
    rounds.push({
      echo: await measure(echo, { port: echoListening.port, submitters: listening.submitters }, true),
      service: await measure(service, listening, false),
    });
  for (const round of rounds) await requireProven(round.service.sample, listening.noteKey);
  report(organisations, rounds);
  service.send("stop");
  await once(service, "exit");
}
for (const child of [load, echo]) child.disconnect();
load.kill();
await rm(tlsDirectory, { recursive: true });
process.exitCode = met ? 0 : 1;

function start(file: string, args: string[]): ChildProcess {
  return fork(join(import.meta.dirname, file), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

async function told(child: ChildProcess): Promise<unknown> {
  const [message] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error("a process of the benchmark ended"))),
  ])) as unknown[];
  return message;
}

async function measure(
  server: ChildProcess,
  { port, submitters }: Listening,
  repeat: boolean,
): Promise<Measured> {
  const seconds = Number(values.seconds);
  const warmUpSeconds = Number(values["warm-up"]);
  const order: LoadOrder = {
    port,
    submitters,
    warmUpSeconds,
    seconds,
    caFile: join(tlsDirectory, "ca.pem"),
    connections: Number(values.connections),
    prepare: repeat ? 20_000 : Math.ceil((seconds + warmUpSeconds) * 6000),
    repeat,
  };
  load.send(order);
  await told(load); // the clock starts
  const before = cpuSeconds(server.pid ?? 0);
  const result = (await told(load)) as LoadResult;
  const after = cpuSeconds(server.pid ?? 0);
  const us = (seconds: number): number => (seconds * 1e6) / result.requests;
  return {
    ...result,
    cpu_us: {
      client: us(result.cpu_s),
      server: us(after.own - before.own),
      postgres: us(after.postgres - before.postgres),
    },
  };
}

function report(organisations: string, rounds: readonly { echo: Measured; service: Measured }[]): void {
  console.log(`\n${organisations} organisation(s), ${values.connections} connections`);
  const rate = ({ requests, seconds }: LoadResult): number => requests / seconds;
  const line = (name: string, result: Measured): string =>
    `${name.padEnd(8)} ${rate(result).toFixed(0).padStart(6)}/s  p50 ${result.p50_ms.toFixed(1)} ms  p99 ${result.p99_ms.toFixed(1)} ms  max ${result.max_ms.toFixed(0)} ms  ` +
    `CPU µs: client ${result.cpu_us.client.toFixed(0)} server ${result.cpu_us.server.toFixed(0)} PostgreSQL ${result.cpu_us.postgres.toFixed(0)}`;
  for (const round of rounds) {
    console.log(line("echo", round.echo));
    console.log(
      `${line("receipts", round.service)}  ratio ${(rate(round.service) / rate(round.echo)).toFixed(2)}`,
    );
  }
  const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
  const ratio = median(rounds.map((round) => rate(round.service) / rate(round.echo)));
  const p99 = median(rounds.map(({ service }) => service.p99_ms));
  const good = ratio >= 0.7 && p99 < 150;
  console.log(
    `median ratio ${ratio.toFixed(2)} (goal 0.70), p99 ${p99.toFixed(0)} ms (goal 150): ${good ? "met" : "MISSED"}`,
  );
  met &&= good;
}
