/** Our ciphertexts and those of Debian's `age` and `zstd`, each read by the other. */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeHeader } from "../../packages/agent/src/crypto/age-header.ts";
import { encryptPayload } from "../../packages/agent/src/crypto/age-payload.ts";
import { writeBlob } from "../../packages/agent/src/crypto/blob.ts";
import { readCiphertext } from "../../packages/agent/src/crypto/ciphertext.ts";
import { writeFilePieces } from "../../packages/agent/src/crypto/file-pieces.ts";
import { seal } from "../../packages/agent/src/crypto/seal.ts";
import { unseal } from "../../packages/agent/src/crypto/unseal.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
/** Larger than any buffer on the way. */
const LARGE = process.env["TEST_ALL"] === undefined ? 32 * MIB : 1024 * MIB;
const SIZES = [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB - 1, MIB, MIB + 1, 5 * MIB + 12_345];
const signal = new AbortController().signal;
const run = promisify(execFile);

let dir = "";
let keys: { identity: string; recipient: string; file: string }[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "attestore-age-"));
  keys = await Promise.all(
    [0, 1, 2].map(async (index) => {
      const identity = await generateX25519Identity();
      const file = join(dir, `key-${index}`);
      await writeFile(file, `# created by a test\n${identity}\n`, { mode: 0o600 });
      return { identity, recipient: await identityToRecipient(identity), file };
    }),
  );
});

afterAll(() => rm(dir, { recursive: true, force: true }));

/** Believable and repeatable: lines that compress, and every so often a block that does not. */
async function* dump(size: number): AsyncGenerator<Buffer> {
  const block = Buffer.alloc(MIB);
  for (let from = 0, number = 0; from < size; from += MIB, number++) {
    block.fill(`${number}\t2026-11-21 10:00:00+00\tshipped\tamber basalt cedar ${number * 7919}\n`);
    createHash("sha512").update(String(number)).digest().copy(block, 4096);
    if (number % 8 === 0)
      createHash("shake256", { outputLength: MIB / 2 })
        .update(String(number))
        .digest()
        .copy(block);
    yield Buffer.from(block.subarray(0, Math.min(MIB, size - from)));
  }
}

async function sha256(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

const digests = new Map<number, Promise<string>>();

/** The SHA-256 of a dump, made and hashed once a size. */
function sha256OfDump(size: number): Promise<string> {
  const digest = digests.get(size) ?? sha256(dump(size));
  digests.set(size, digest);
  return digest;
}

/** The SHA-256 of what a shell pipeline writes. */
async function sha256Of(command: string): Promise<string> {
  const child = spawn("bash", ["-o", "pipefail", "-c", command], { stdio: ["ignore", "pipe", "inherit"] });
  const digest = await sha256(child.stdout);
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code, command).toBe(0);
  return digest;
}

/** An age file of bytes as they are, without zstd. */
async function* age(bytes: AsyncIterable<Uint8Array>, recipients: string[]): AsyncGenerator<Buffer> {
  const header = await makeHeader(recipients);
  yield header.bytes;
  yield* encryptPayload(bytes, header.payloadKey);
}

describe("age decrypts what we encrypt, byte for byte", () => {
  test.each(SIZES)("%i bytes, one recipient", async (size) => {
    const path = join(dir, `one-${size}.age`);
    await writeFilePieces(path, age(dump(size), [keys[0]!.recipient]), signal);
    expect(await sha256Of(`age -d -i ${keys[0]!.file} ${path}`)).toBe(await sha256OfDump(size));
  });

  test.each(SIZES)("%i bytes, three recipients", async (size) => {
    const path = join(dir, `three-${size}.age`);
    await writeFilePieces(
      path,
      age(
        dump(size),
        keys.map(({ recipient }) => recipient),
      ),
      signal,
    );
    const expected = await sha256OfDump(size);
    for (const { file } of keys) expect(await sha256Of(`age -d -i ${file} ${path}`)).toBe(expected);
  });

  test(`${LARGE} bytes, as a stream`, async () => {
    const path = join(dir, "large.age");
    await writeFilePieces(path, age(dump(LARGE), [keys[0]!.recipient]), signal);
    expect(await sha256Of(`age -d -i ${keys[0]!.file} ${path}`)).toBe(await sha256OfDump(LARGE));
    await rm(path);
  });

  test("not with somebody else's identity", async () => {
    const path = join(dir, "other.age");
    await writeFilePieces(path, age(dump(100), [keys[0]!.recipient]), signal);
    await expect(run("age", ["-d", "-i", keys[1]!.file, path])).rejects.toThrow("no identity matched");
  });
});

describe("age -d | zstd -d gives the dump back", () => {
  test.each([...SIZES, LARGE])("%i bytes", async (size) => {
    const { path } = await writeBlob(
      seal(
        dump(size),
        keys.slice(0, 2).map(({ recipient }) => recipient),
      ),
      dir,
      signal,
    );
    expect(await sha256Of(`age -d -i ${keys[1]!.file} ${path} | zstd -dc`)).toBe(await sha256OfDump(size));
    await rm(path);
  });

  test("zstd finds every frame complete, with its size and a checksum", async () => {
    const { path } = await writeBlob(seal(dump(5 * MIB), [keys[0]!.recipient]), dir, signal);
    await sha256Of(`age -d -i ${keys[0]!.file} -o ${dir}/frames.zst ${path}`);
    const { stdout } = await run("zstd", ["-lv", join(dir, "frames.zst")]);
    expect(stdout).toContain("# Zstandard Frames: 5");
    expect(stdout).toContain("Decompressed Size: 5.00 MiB (5242880 B)");
    expect(stdout).toContain("Check: XXH64");
    await run("zstd", ["-t", join(dir, "frames.zst")]);
  });
});

describe("we restore what zstd | age made", () => {
  const compressors = ["zstd -3", "zstd -1 --no-check", "zstd -19", "zstd -3 -T2", "zstd -3 --long=27"];
  const cases = [
    ...compressors.map((compressor) => ({ compressor, size: 5 * MIB + 12_345 })),
    ...[0, 1, 64 * KIB, MIB, 300 * MIB].map((size) => ({ compressor: "zstd -3", size })),
  ];

  test.each(cases)("$compressor, $size bytes", async ({ compressor, size }) => {
    const input = join(dir, "input");
    await writeFilePieces(input, dump(size), signal);
    const path = join(dir, "theirs.age");
    await sha256Of(
      `${compressor} -q -c ${input} | age -r ${keys[0]!.recipient} -r ${keys[1]!.recipient} -o ${path}`,
    );
    const before = process.memoryUsage().rss;
    const restored = await sha256(unseal(readCiphertext({ path }), [keys[1]!.identity]));
    expect(restored).toBe(await sha256OfDump(size));
    // One frame of 300 MiB, never in memory as a whole.
    if (size > 200 * MIB) expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB);
    await rm(input);
    await rm(path);
  });

  test("a sequence of frames of every kind", async () => {
    const input = join(dir, "input");
    await writeFilePieces(input, dump(3 * MIB), signal);
    // 0x184D2A50 is a skippable frame, which decoders step over.
    const skippable = String.raw`printf '\x50\x2a\x4d\x18\x05\x00\x00\x00hello'`;
    const path = join(dir, "frames.age");
    await sha256Of(
      `{ ${skippable}; zstd -q -c ${input}; : | zstd -q -c; ${skippable}; zstd -q -19 --no-check < ${input}; head -c 1 ${input} | zstd -q; } | age -r ${keys[0]!.recipient} -o ${path}`,
    );
    const whole = await readFile(input);
    const expected = createHash("sha256")
      .update(whole)
      .update(whole)
      .update(whole.subarray(0, 1))
      .digest("hex");
    expect(await sha256(unseal(readCiphertext({ path }), [keys[0]!.identity]))).toBe(expected);
  });
});
