/**
 * Entries a second that Tessera's POSIX personality sequences and integrates, under its own loader:
 * the figures that docs/performance.md sets beside ours. It verifies no signature, authenticates
 * nobody, and speaks plain HTTP.
 *
 *   GOBIN=$PWD go install github.com/transparency-dev/tessera/cmd/conformance/posix@v1.0.4
 *   GOBIN=$PWD go install github.com/transparency-dev/tessera/internal/hammer@v1.0.4
 *   node packages/orchestrator/bench/tessera.ts --server ./posix --loader ./hammer [--connections 128,1024]
 *     [--seconds 10] [--rounds 3] [--bytes 1500]
 *
 * The loader tells no times, so the mean time of an answer is calculated: connections by rate.
 * Prints a table in Markdown: medians of the rounds.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { cpuSeconds } from "./cpu-time.ts";
import { median } from "./table.ts";

/** The key pair that Tessera's own documents show. */
const SIGNER = "PRIVATE+KEY+example.com/log/testdata+33d7b496+AeymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg";
const VERIFIER = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx";
const PORT = 20_250;
const LOG = `http://127.0.0.1:${PORT}/`;

const { values } = parseArgs({
  options: {
    server: { type: "string" },
    loader: { type: "string" },
    connections: { type: "string", default: "128,1024" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    bytes: { type: "string", default: "1500" },
  },
});
const { server, loader } = values;
if (server === undefined || loader === undefined) throw new Error("name the programs: --server, --loader");

interface Round {
  readonly rate: number;
  readonly client_us: number;
  readonly server_us: number;
}

console.log(
  `\nTessera, POSIX; entries of ${values.bytes} bytes; ${values.rounds} rounds of ${values.seconds} s; ${availableParallelism()} cores\n`,
);
console.log("| connections | a second | mean ms, calculated | CPU µs: client | server | all CPU |");
console.log("| --- | --- | --- | --- | --- | --- |");
for (const connections of values.connections.split(",").map(Number)) {
  const rounds: Round[] = [];
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await measure(connections));
  const of = (value: (round: Round) => number): number => median(rounds.map(value));
  const cells = [
    connections,
    of(({ rate }) => rate).toFixed(0),
    of(({ rate }) => (connections / rate) * 1000).toFixed(0),
    of(({ client_us }) => client_us).toFixed(0),
    of(({ server_us }) => server_us).toFixed(0),
    of(({ client_us, server_us }) => client_us + server_us).toFixed(0),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

/** A new log, so that no round meets what an earlier one left. */
async function measure(connections: number): Promise<Round> {
  const directory = await mkdtemp(join(tmpdir(), "attestore-bench-"));
  const log = start(`${server}`, [`--storage_dir=${directory}`, `--listen=:${PORT}`], {
    LOG_PRIVATE_KEY: SIGNER,
  });
  let load: ChildProcess | null = null;
  try {
    await treeSize();
    load = start(`${loader}`, [
      `--log_public_key=${VERIFIER}`,
      `--log_url=${LOG}`,
      "--max_read_ops=0",
      "--num_readers_random=0",
      "--num_readers_full=0",
      "--dup_chance=0",
      `--leaf_min_size=${values.bytes}`,
      `--num_writers=${connections}`,
      "--max_write_ops=1000000",
      "--show_ui=false",
    ]);
    // The first seconds open connections and fill the first batch.
    await setTimeout(3000);
    const before = now(log, load, await treeSize());
    await setTimeout(Number(values.seconds) * 1000);
    const after = now(log, load, await treeSize());
    const entries = after.size - before.size;
    const us = (seconds: number): number => (seconds * 1e6) / entries;
    return {
      rate: entries / (after.at_s - before.at_s),
      client_us: us(after.client_s - before.client_s),
      server_us: us(after.server_s - before.server_s),
    };
  } finally {
    load?.kill("SIGKILL");
    log.kill("SIGKILL");
    await rm(directory, { recursive: true, maxRetries: 10, retryDelay: 100 });
  }
}

function now(
  log: ChildProcess,
  load: ChildProcess,
  size: number,
): { readonly size: number; readonly at_s: number; readonly client_s: number; readonly server_s: number } {
  return {
    size,
    at_s: performance.now() / 1000,
    client_s: cpuSeconds(load.pid ?? 0).own,
    server_s: cpuSeconds(log.pid ?? 0).own,
  };
}

/** The second line of a checkpoint (C2SP tlog-checkpoint). Waits until the log has one. */
async function treeSize(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await fetch(`${LOG}checkpoint`).catch(() => null);
    if (answer?.ok === true) return Number((await answer.text()).split("\n")[1]);
    await setTimeout(100);
  }
  throw new Error("the log has no checkpoint");
}

function start(program: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(program, args, { env: { ...process.env, ...env }, stdio: "ignore" });
}
