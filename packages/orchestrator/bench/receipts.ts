/**
 * Receipts a second, each durable and answered with its proof, against two baselines of the same
 * bodies: a bare Fastify TLS echo, and the same echo when it also verifies each envelope's
 * signature.
 *
 *   node packages/orchestrator/bench/receipts.ts [--warm-up 10] [--seconds 10] [--rounds 3] [--connections 128] [--organisations 1,100]
 *     [--together 100] [--owner]
 *
 * They take turns in one invocation under the same load generator, so that the ratios mean
 * something on a busy or slow machine; the rates themselves only compare with those of the same
 * run. The service also gets receipts several in a call, over so many fewer connections that it has
 * about as much to do at once; with `--connections 1` that is one agent that comes back after an
 * outage. With `--owner` the same service takes turns too that works as the
 * one role which owns the tables. Client, service and PostgreSQL share the machine. Prints a table
 * in Markdown: medians of the rounds.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { requireProven } from "./check-answer.ts";
import type { Submitter } from "./envelopes.ts";
import type { LoadOrder } from "./load.ts";
import { LoadProcess, told } from "./load-process.ts";
import { markdownTable, median, type Measured } from "./table.ts";

const { values } = parseArgs({
  options: {
    "warm-up": { type: "string", default: "10" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "128" },
    organisations: { type: "string", default: "1,100" },
    together: { type: "string", default: "100" },
    owner: { type: "boolean", default: false },
  },
});

interface Listening {
  port: number;
  submitters: Submitter[];
}

const together = Number(values.together);
/** Calls of several receipts at once: some 1,600 receipts wait, and the service takes 5,000. */
const FEW = Math.min(16, Number(values.connections));
const ALL = ["echo", "verifying echo", "receipts", "receipts together", "receipts as the owner"] as const;
type Contender = (typeof ALL)[number];
const CONTENDERS = ALL.filter((name) => values.owner || name !== "receipts as the owner");

const tlsDirectory = await mkdtemp(join(tmpdir(), "attestore-bench-"));
const load = new LoadProcess();
const echo = start("echo-server.ts", [tlsDirectory]);
const { port: echoPort } = (await told(echo)) as Listening;
let met = true;
for (const organisations of values.organisations.split(",")) {
  const service = start("receipts-server.ts", [tlsDirectory, organisations]);
  const { port, submitters, noteKey } = (await told(service)) as Listening & { noteKey: string };
  const owner = values.owner ? start("receipts-server.ts", [tlsDirectory, organisations, "owner"]) : null;
  const ofOwner = owner === null ? null : ((await told(owner)) as Listening & { noteKey: string });
  echo.send(submitters);
  const runs: Record<Contender, Measured[]> = {
    echo: [],
    "verifying echo": [],
    receipts: [],
    "receipts together": [],
    "receipts as the owner": [],
  };
  const run = async (
    name: Contender,
    server: ChildProcess,
    port: number,
    path: string,
    from = submitters,
  ): Promise<Measured> => {
    const repeat = name === "echo" || name === "verifying echo";
    const many = name === "receipts together" ? { together, connections: FEW } : {};
    const result = await measure(server, { port, path, submitters: from, repeat, ...many });
    runs[name].push(result);
    return result;
  };
  for (let round = 0; round < Number(values.rounds); round++) {
    await run("echo", echo, echoPort, "/v1/receipts");
    await run("verifying echo", echo, echoPort, "/verified");
    const { sample } = await run("receipts", service, port, "/v1/receipts");
    await requireProven(sample, noteKey);
    const several = await run("receipts together", service, port, "/v1/receipts");
    await requireProven(answerOfLine(several.sample), noteKey);
    if (owner === null || ofOwner === null) continue;
    const other = await run("receipts as the owner", owner, ofOwner.port, "/v1/receipts", ofOwner.submitters);
    await requireProven(other.sample, ofOwner.noteKey);
  }
  report(organisations, runs);
  service.send("stop");
  await once(service, "exit");
  owner?.send("stop");
  if (owner !== null) await once(owner, "exit");
}
echo.disconnect();
load.end();
await rm(tlsDirectory, { recursive: true });
process.exitCode = met ? 0 : 1;

function answerOfLine(line: string): string {
  return JSON.stringify((JSON.parse(line) as { answer: object }).answer);
}

function start(file: string, args: string[]): ChildProcess {
  return fork(join(import.meta.dirname, file), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

async function measure(
  server: ChildProcess,
  target: Pick<LoadOrder, "port" | "path" | "submitters" | "repeat"> &
    Partial<Pick<LoadOrder, "connections" | "together">>,
): Promise<Measured> {
  const seconds = Number(values.seconds);
  const warmUpSeconds = Number(values["warm-up"]);
  const several = target.together ?? 1;
  const order: LoadOrder = {
    connections: Number(values.connections),
    together: several,
    ...target,
    warmUpSeconds,
    seconds,
    caFile: join(tlsDirectory, "ca.pem"),
    prepare: target.repeat ? 20_000 : Math.ceil((seconds + warmUpSeconds) * (several === 1 ? 6000 : 15_000)),
  };
  return load.measure(server.pid, order);
}

function report(organisations: string, runs: Record<Contender, Measured[]>): void {
  const { rounds, seconds, connections } = values;
  const cores = availableParallelism();
  console.log(
    `\nOrganisations: ${organisations}; ${connections} connections; ${rounds} rounds of ${seconds} s; ${cores} cores\n`,
  );
  console.log(markdownTable(CONTENDERS.map((name) => ({ name, rounds: runs[name] }))));
  const { ratio, p99 } = {
    ratio: median(
      runs.receipts.map(({ rate }, round) => rate / (runs["verifying echo"][round]?.rate ?? NaN)),
    ),
    p99: median(runs.receipts.map(({ p99_ms }) => p99_ms)),
  };
  const good = ratio >= 0.6 && p99 < 150;
  console.log(
    `\nThe aim: 0.60 of the verifying echo and a p99 below 150 ms. It is ${ratio.toFixed(2)} and ${p99.toFixed(0)} ms: ${good ? "met" : "MISSED"}`,
  );
  const gain = median(
    runs["receipts together"].map(({ rate }, round) => rate / (runs.receipts[round]?.rate ?? NaN)),
  );
  console.log(`${together} in a call: ${gain.toFixed(1)} times the rate of one by one. The aim: 3.0`);
  met &&= good;
}
