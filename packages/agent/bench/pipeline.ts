/**
 * The pipeline against `zstd -3 | age -r` and the way back against `age -d | zstd -d`, on the same
 * file, in adjacent alternating runs. Ratios above 1 mean that ours is faster.
 *
 *   node packages/agent/bench/pipeline.ts [--size-mib 2048] [--rounds 3] [--to-disk] [--dir DIR]
 *   node packages/agent/bench/pipeline.ts --jitless
 */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { median } from "./median.ts";

const { values } = parseArgs({
  options: {
    "size-mib": { type: "string", default: "2048" },
    rounds: { type: "string", default: "3" },
    dir: { type: "string", default: tmpdir() },
    /** Writes and fsyncs the results, both sides; without it only the work is compared. */
    "to-disk": { type: "boolean", default: false },
    jitless: { type: "boolean", default: false },
  },
});

const dir = await mkdtemp(join(values.dir, "attestore-bench-"));
try {
  await compare();
} finally {
  await rm(dir, { recursive: true, force: true });
}

async function compare(): Promise<void> {
  const measuredRun = await stripTypes();
  const input = join(dir, "dump");
  await makeDump(input, Number(values["size-mib"]) * 2 ** 20);
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const identityFile = join(dir, "key");
  await writeFile(identityFile, `${identity}\n`, { mode: 0o600 });
  // What the decryption below reads: one file of ours, and one that the shell made.
  const blobs = join(dir, "blobs");
  const { sha256 } = run(measuredRun, ["seal", input, blobs, recipient]);
  const ciphertext = join(blobs, `${sha256}.age`);
  shell(`zstd -q -3 -c ${input} | age -r ${recipient} -o ${dir}/theirs.age`);
  shell(`age -d -i ${identityFile} ${ciphertext} | zstd -q -dc | cmp - ${input}`);

  const out = values["to-disk"] ? join(dir, "out") : "";
  const sink = (name: string): string =>
    values["to-disk"] ? `> ${dir}/${name} && sync ${dir}/${name}` : "> /dev/null";
  const there = contest(
    "there",
    "zstd | age",
    () => run(measuredRun, ["seal", input, out, recipient]),
    () => shell(`zstd -q -3 -c ${input} | age -r ${recipient} ${sink("theirs.out")}`),
    () => shell(`rm -rf ${dir}/out ${dir}/theirs.out`),
  );
  const back = contest(
    "back",
    "age -d | zstd -d",
    () => run(measuredRun, ["unseal", ciphertext, out, identity, sha256]),
    () => shell(`age -d -i ${identityFile} ${dir}/theirs.age | zstd -q -dc ${sink("theirs.out")}`),
    () => shell(`rm -rf ${dir}/out ${dir}/theirs.out`),
  );
  report([there, back]);
}

/** Adjacent runs in alternating order; medians of the rounds, ratios as theirs over ours. */
function contest(
  name: string,
  theirName: string,
  runOurs: () => Ours,
  runTheirs: () => Theirs,
  clear: () => void,
): Contest {
  const rounds: { own: Ours; theirs: Theirs }[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const [own, theirs] = round % 2 === 0 ? [runOurs(), runTheirs()] : swap(runTheirs(), runOurs());
    clear();
    rounds.push({ own, theirs });
    say(
      `${name} ${round + 1}: ours ${own.seconds.toFixed(2)} s (CPU ${own.cpu_seconds.toFixed(2)} s, ${own.rss_mib.toFixed(0)} MiB), ${theirName} ${theirs.seconds.toFixed(2)} s (CPU ${theirs.cpu_seconds.toFixed(2)} s)`,
    );
  }
  const of = (value: (round: { own: Ours; theirs: Theirs }) => number): number => median(rounds.map(value));
  return {
    name,
    ratio: of(({ own, theirs }) => theirs.seconds / own.seconds),
    seconds: of(({ own }) => own.seconds),
    their_seconds: of(({ theirs }) => theirs.seconds),
    cpu_seconds: of(({ own }) => own.cpu_seconds),
    their_cpu_seconds: of(({ theirs }) => theirs.cpu_seconds),
    peak_mib: Math.max(...rounds.map(({ own }) => own.rss_mib)),
  };
}

interface Contest {
  readonly name: string;
  readonly ratio: number;
  readonly seconds: number;
  readonly their_seconds: number;
  readonly cpu_seconds: number;
  readonly their_cpu_seconds: number;
  readonly peak_mib: number;
}

/**
 * CPU time changes less than elapsed time when others use the machine too. "By CPU" is its ratio:
 * what ours can be at most where there is only one core. The elapsed time of ours is at least half
 * its CPU time on two.
 */
function report(contests: readonly Contest[]): void {
  say(`\n${values["size-mib"]} MiB, ${values.rounds} rounds, ${availableParallelism()} cores\n`);
  say("| | ratio | aim | s | theirs | CPU s | theirs | by CPU | peak MiB |");
  say("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const each of contests) {
    const seconds = [each.seconds, each.their_seconds, each.cpu_seconds, each.their_cpu_seconds];
    const cells = [
      each.name,
      each.ratio.toFixed(2),
      each.name === "there" ? "1.1" : "0.8",
      ...seconds.map((value) => value.toFixed(2)),
      (each.their_cpu_seconds / each.cpu_seconds).toFixed(2),
      each.peak_mib.toFixed(0),
    ];
    say(`| ${cells.join(" | ")} |`);
  }
}

interface Theirs {
  readonly seconds: number;
  readonly cpu_seconds: number;
}

interface Ours extends Theirs {
  readonly rss_mib: number;
  readonly sha256: string;
}

function run(script: string, args: string[]): Ours {
  const flags = values.jitless ? ["--jitless"] : [];
  const started = performance.now();
  const child = spawnSync(process.execPath, [...flags, script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (child.status !== 0) throw new Error(`ours ended with ${child.status ?? child.signal}`);
  const reported = JSON.parse(child.stdout) as Omit<Ours, "seconds">;
  // With its start, as theirs.
  return { ...reported, seconds: (performance.now() - started) / 1000 };
}

/**
 * The agent as plain JavaScript: without a JIT there is no WebAssembly, and without that no
 * stripping of types.
 */
async function stripTypes(): Promise<string> {
  const agent = join(import.meta.dirname, "..");
  const stripped = join(dir, "stripped");
  for (const folder of ["bench", "src"]) {
    for (const name of await readdir(join(agent, folder), { recursive: true })) {
      if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
      const source = stripTypeScriptTypes(await readFile(join(agent, folder, name), "utf8"));
      const target = join(stripped, folder, name.replace(/ts$/, "js"));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, source.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
    }
  }
  await writeFile(join(stripped, "package.json"), '{"type":"module"}');
  await symlink(join(agent, "..", "..", "node_modules"), join(stripped, "node_modules"));
  return join(stripped, "bench", "measured-run.js");
}

/** Both programs of a pipe together: `time` of bash counts all that it waited for. */
function shell(command: string): Theirs {
  const started = performance.now();
  const timed = `TIMEFORMAT="%U %S"; { time { ${command}; } 2>&3; } 3>&2 2>&1`;
  const run = spawnSync("bash", ["-o", "pipefail", "-c", timed], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(`${command} ended with ${run.status ?? run.signal}`);
  const [user, system] = run.stdout.trim().split(" ").map(Number);
  return { seconds: (performance.now() - started) / 1000, cpu_seconds: (user ?? NaN) + (system ?? NaN) };
}

/**
 * Text like COPY data out of pg_dump, with a column of hashes in hex that hardly compress, and
 * 1.5 % of random bytes.
 */
async function makeDump(path: string, bytes: number): Promise<void> {
  const script = `
    BEGIN { srand(7); split("pending paid shipped returned cancelled", status, " ");
      split("amber basalt cedar delta ember fjord garnet harbor indigo juniper", word, " ");
      for (i = 1; ; i++) printf "%d\\t%d\\t2026-%02d-%02d %02d:%02d:%02d.%06d+00\\t%s\\t%.2f\\t%s %s %s\\t%08x%08x%08x%08x\\n", i, int(rand() * 90000),
        1 + int(rand() * 12), 1 + int(rand() * 28), int(rand() * 24), int(rand() * 60), int(rand() * 60), int(rand() * 1000000),
        status[1 + int(rand() * 5)], rand() * 500, word[1 + int(rand() * 10)], word[1 + int(rand() * 10)], word[1 + int(rand() * 10)],
        int(rand() * 4294967295), int(rand() * 4294967295), int(rand() * 4294967295), int(rand() * 4294967295) }`;
  const awk = spawn("awk", [script], { stdio: ["ignore", "pipe", "ignore"] });
  let left = bytes;
  let sinceRandom = 0;
  await pipeline(async function* () {
    for await (const piece of awk.stdout as AsyncIterable<Buffer>) {
      sinceRandom += piece.length;
      const random = sinceRandom > 65_536 ? randomBytes(1024) : Buffer.alloc(0);
      if (random.length > 0) sinceRandom = 0;
      const mixed = Buffer.concat([piece, random]).subarray(0, left);
      left -= mixed.length;
      yield mixed;
      if (left === 0) break;
    }
    awk.kill();
  }, createWriteStream(path));
}

function swap<A, B>(a: A, b: B): [B, A] {
  return [b, a];
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
