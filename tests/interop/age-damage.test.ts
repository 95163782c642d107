/**
 * What Debian's `zstd` and `age` made, damaged, cut or not of our kind: a typed error, and nothing
 * under the output's name.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DamagedCiphertext } from "../../packages/agent/src/crypto/damaged.ts";
import { RunError } from "../../packages/agent/src/errors/run-error.ts";
import { restoreToFile } from "../../packages/agent/src/runs/restore-to-file.ts";

const SEALED_CHUNK = 64 * 1024 + 16;
const NONCE = 16;

let base: string;
let identity: string;
let recipient: string;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-age-damage-"));
  identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
});
afterAll(() => {
  rmSync(base, { recursive: true, force: true });
});

function madeBy(command: string): Buffer {
  const path = join(base, "theirs.age");
  const script = `${command} | age -r ${recipient} -o ${path}`;
  const { status, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", script], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return readFileSync(path);
}

/** How our way back ends: the error's code, or the bytes. Whatever it is, no other file is left. */
async function restored(ciphertext: Buffer): Promise<string | Buffer> {
  const directory = mkdtempSync(join(base, "restore-"));
  const path = join(directory, "in.age");
  const output = join(directory, "out");
  writeFileSync(path, ciphertext);
  try {
    const { signal } = new AbortController();
    await restoreToFile({ ciphertext: { path }, identities: [identity], output, signal });
    expect(readdirSync(directory).toSorted()).toEqual(["in.age", "out"]);
    return readFileSync(output);
  } catch (error) {
    expect(readdirSync(directory)).toEqual(["in.age"]);
    if (error instanceof DamagedCiphertext || error instanceof RunError) return error.code;
    throw error;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("a file of another kind", () => {
  it.each([
    ["age without zstd", "echo a plain text", "zstd_damaged"],
    ["age of nothing at all", "true", "zstd_damaged"],
    ["age of gzip", "echo text | gzip", "zstd_damaged"],
    ["zstd with something after it", "{ echo text | zstd -q; echo more; }", "trailing_data"],
    ["zstd that was cut", "seq 100000 | zstd -q | head -c -100", "zstd_damaged"],
    ["a window beyond 128 MiB", "head -c 300000000 /dev/zero | zstd -q -1 --long=30", "zstd_damaged"],
  ])("%s is refused", async (_name, command, code) => {
    expect(await restored(madeBy(command))).toBe(code);
  });

  it("an armored file (age -a) is refused", async () => {
    const armoured = spawnSync("bash", ["-c", `echo text | zstd -q | age -a -r ${recipient}`]).stdout;
    expect(await restored(armoured)).toBe("not_age");
  });
});

describe("a file of `zstd -3 | age` in five chunks", () => {
  // Random, so that zstd leaves it as long as it is.
  const chunks = 5;
  let whole: Buffer;
  let start: number;
  let borders: number[];
  beforeAll(() => {
    whole = madeBy(`head -c ${4.5 * 64 * 1024} /dev/urandom | tee ${join(base, "source")} | zstd -3 -q`);
    start = whole.indexOf("\n", whole.indexOf("\n--- ") + 1) + 1 + NONCE;
    borders = Array.from({ length: chunks }, (_, chunk) => start + chunk * SEALED_CHUNK);
    expect(whole.length - start).toBeGreaterThan((chunks - 1) * SEALED_CHUNK);
    expect(whole.length - start).toBeLessThan(chunks * SEALED_CHUNK);
  });

  it("restores completely", async () => {
    expect(readFileSync(join(base, "source")).equals((await restored(whole)) as Buffer)).toBe(true);
  });

  it("is refused with a flipped byte on either side of every chunk boundary", async () => {
    const inHeader = [0, 21, 22, 40, start - NONCE - 2, start - NONCE - 1, start - NONCE, start - 1];
    const inPayload = [
      ...borders.flatMap((at) => [at - 16, at - 1, at, at + 1]),
      whole.length - 17,
      whole.length - 1,
    ];
    for (const at of [...inHeader, ...inPayload.filter((each) => each >= start)]) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      const code = await restored(flipped);
      const expected =
        at < start - NONCE ? /^(?:not_age|header_damaged|identity_missing)$/ : /^payload_damaged$/;
      expect(code, `byte ${at}`).toMatch(expected);
    }
  });

  it("is refused if it is cut on either side of every chunk boundary", async () => {
    const cuts = [
      0,
      1,
      22,
      start - NONCE - 1,
      start - NONCE,
      start - 1,
      start,
      start + 1,
      start + 16,
      whole.length - 1,
    ];
    for (const at of [
      ...cuts,
      ...borders.slice(1).flatMap((border) => [border - 1, border, border + 1, border + 16]),
    ]) {
      const code = await restored(whole.subarray(0, at));
      expect(code, `cut at ${at}`).toMatch(/^(?:not_age|header_damaged|truncated|payload_damaged)$/);
    }
  });

  it("is refused with more bytes at the end", async () => {
    for (const more of [Buffer.from("x"), Buffer.alloc(16), whole, Buffer.alloc(SEALED_CHUNK)]) {
      expect(await restored(Buffer.concat([whole, more]))).toMatch(/^(?:trailing_data|payload_damaged)$/);
    }
  });
});
