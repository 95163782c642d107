/**
 * The pipeline against `zstd -3 | age -r` and the way back against `age -d | zstd -d`, on the same file, in adjacent
 * alternating runs. Ratios above 1 mean that ours is faster.
 *
 *   node packages/agent/bench/pipeline.ts [--size-mib 2048] [--rounds 3] [--dir DIR]
 *   node --jitless packages/agent/bench/pipeline.ts
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";

const { values } = parseArgs({
  options: {
    "size-mib": { type: "string", default: "2048" },
    rounds: { type: "string", default: "3" },
    dir: { type: "string", default: tmpdir() },
    /** Internal: one measured run of ours in a process of its own, so that its peak memory is its own. */
    ours: { type: "string" },
    input: { type: "string", default: "" },
    output: { type: "string", default: "" },
    key: { type: "string", default: "" },
    sha256: { type: "string", default: "" },
  },
});

if (values.ours === "seal") {
  const { writeBlob } = await import("../src/pipeline/blob.ts");
  const { seal } = await import("../src/pipeline/seal.ts");
  const { readFilePieces } = await import("../src/pipeline/file-pieces.ts");
  const source = readFilePieces(values.input);
  const started = performance.now();
  const blob = await writeBlob(seal(source, [values.key]), values.output, new AbortController().signal);
  report(started, { path: blob.path, sha256: blob.sha256 });
} else if (values.ours === "unseal") {
  const { restoreToFile } = await import("../src/runs/restore-to-file.ts");
  const started = performance.now();
  await restoreToFile({
    ciphertext: { path: values.input },
    sha256: values.sha256,
    identities: [values.key],
    output: values.output,
    signal: new AbortController().signal,
  });
  report(started, {});
} else {
  await compare();
}

function report(started: number, more: object): void {
  const rss_mib = process.resourceUsage().maxRSS / 1024;
  process.stdout.write(JSON.stringify({ seconds: (performance.now() - started) / 1000, rss_mib, ...more }));
}

async function compare(): Promise<void> {
  const dir = await mkdtemp(join(values.dir, "attestore-bench-"));
  try {
    const input = join(dir, "dump");
    await makeDump(input, Number(values["size-mib"]) << 20);
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const identityFile = join(dir, "key");
    await writeFile(identityFile, `${identity}\n`, { mode: 0o600 });
    const digest = await fileDigest(input);

    const there: number[] = [];
    const back: number[] = [];
    let peak = 0;
    for (let round = 0; round < Number(values.rounds); round++) {
      const blobs = join(dir, "blobs");
      await mkdir(blobs);
      const runOurs = (): Ours =>
        ours(["--ours", "seal", "--input", input, "--output", blobs, "--key", recipient]);
      const runTheirs = (): number =>
        shell(`zstd -q -3 -c ${input} | age -r ${recipient} -o ${dir}/theirs.age && sync ${dir}/theirs.age`);
      const [sealed, theirs] = round % 2 === 0 ? [runOurs(), runTheirs()] : swap(runTheirs(), runOurs());
      there.push(theirs / sealed.seconds);
      say(
        `  there ${round + 1}: ours ${sealed.seconds.toFixed(2)} s, zstd | age ${theirs.toFixed(2)} s, ratio ${(theirs / sealed.seconds).toFixed(2)}, peak ${sealed.rss_mib.toFixed(0)} MiB`,
      );

      const out = join(dir, "out");
      const runBack = (): Ours =>
        ours([
          "--ours",
          "unseal",
          "--input",
          String(sealed.path),
          "--output",
          out,
          "--key",
          identity,
          "--sha256",
          String(sealed.sha256),
        ]);
      const runTheirBack = (): number =>
        shell(
          `age -d -i ${identityFile} ${dir}/theirs.age | zstd -q -d -o ${dir}/theirs.out && sync ${dir}/theirs.out`,
        );
      const [unsealed, theirBack] =
        round % 2 === 0 ? [runBack(), runTheirBack()] : swap(runTheirBack(), runBack());
      back.push(theirBack / unsealed.seconds);
      say(
        `  back  ${round + 1}: ours ${unsealed.seconds.toFixed(2)} s, age -d | zstd -d ${theirBack.toFixed(2)} s, ratio ${(theirBack / unsealed.seconds).toFixed(2)}, peak ${unsealed.rss_mib.toFixed(0)} MiB`,
      );

      if ((await fileDigest(out)) !== digest) throw new Error("what came back is not what went in");
      peak = Math.max(peak, sealed.rss_mib, unsealed.rss_mib);
      await rm(blobs, { recursive: true });
      for (const name of ["out", "theirs.out", "theirs.age"]) await rm(join(dir, name));
    }
    say(
      `there: ratio ${median(there).toFixed(2)} (at least 1.1); back: ratio ${median(back).toFixed(2)} (at least 0.8); peak memory ${peak.toFixed(0)} MiB (under 191 = 200 MB)`,
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface Ours {
  readonly seconds: number;
  readonly rss_mib: number;
  readonly path?: string;
  readonly sha256?: string;
}

function ours(args: string[]): Ours {
  const run = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(`ours ended with ${run.status ?? run.signal}`);
  return JSON.parse(run.stdout) as Ours;
}

function shell(command: string): number {
  const started = performance.now();
  const run = spawnSync("bash", ["-o", "pipefail", "-c", command], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (run.status !== 0) throw new Error(`${command} ended with ${run.status ?? run.signal}`);
  return (performance.now() - started) / 1000;
}

/** Text like COPY data out of pg_dump, with a column of random bytes in hex that does not compress well. */
async function makeDump(path: string, bytes: number): Promise<void> {
  const script = `
    BEGIN { srand(7); split("pending paid shipped returned cancelled", status, " ");
      split("amber basalt cedar delta ember fjord garnet harbor indigo juniper", word, " ");
      for (i = 1; ; i++) printf "%d\\t%d\\t2026-%02d-%02d %02d:%02d:%02d.%06d+00\\t%s\\t%.2f\\t%s %s %s\\t%08x%08x%08x%08x\\n", i, int(rand() * 90000),
        1 + int(rand() * 12), 1 + int(rand() * 28), int(rand() * 24), int(rand() * 60), int(rand() * 60), int(rand() * 1000000),
        status[1 + int(rand() * 5)], rand() * 500, word[1 + int(rand() * 10)], word[1 + int(rand() * 10)], word[1 + int(rand() * 10)],
        int(rand() * 4294967295), int(rand() * 4294967295), int(rand() * 4294967295), int(rand() * 4294967295) }`;
  const awk = spawn("awk", [script], { stdio: ["ignore", "pipe", "inherit"] });
  let left = bytes;
  await pipeline(async function* () {
    for await (const piece of awk.stdout as AsyncIterable<Buffer>) {
      const random = piece.length % 16 === 0 ? randomBytes(Math.min(2048, left)) : Buffer.alloc(0);
      const mixed = Buffer.concat([piece, random]).subarray(0, left);
      left -= mixed.length;
      yield mixed;
      if (left === 0) break;
    }
    awk.kill();
  }, createWriteStream(path));
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  return hash.digest("hex");
}

function swap<A, B>(a: A, b: B): [B, A] {
  return [b, a];
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
