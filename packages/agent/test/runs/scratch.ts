/** What tests of whole runs share: a place, keys, and a look at what is left. */
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { writeBlob } from "../../src/crypto/blob.ts";
import { seal } from "../../src/crypto/seal.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";

export interface TestPlace {
  readonly dir: string;
  readonly blobs: string;
  readonly scratch: string;
  readonly identity: string;
  readonly recipient: string;
  /** Everything below `blobs` and `scratch`. */
  leftovers(): Promise<string[]>;
  remove(): Promise<void>;
}

export async function makeTestPlace(): Promise<TestPlace> {
  const dir = await mkdtemp(join(tmpdir(), "runs-test-"));
  // The user that a scratch server runs as has to get through it.
  await chmod(dir, 0o755);
  const identity = await generateX25519Identity();
  const [blobs, scratch] = [join(dir, "blobs"), join(dir, "scratch")];
  const list = (path: string): Promise<string[]> => readdir(path, { recursive: true }).catch(() => []);
  return {
    dir,
    blobs,
    scratch,
    identity,
    recipient: await identityToRecipient(identity),
    leftovers: async () => [...(await list(blobs)), ...(await list(scratch))],
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

/** A backup's ciphertext that a test made itself. */
export interface Resealed extends Pick<MadeBackup, "path" | "sha256"> {
  /** As its maker would have signed it; absent of one that only its bytes are damaged of. */
  readonly plaintextBytes?: number;
}

/** Encrypts other content, as if the agent had dumped it. */
export async function reseal(place: TestPlace, content: Buffer): Promise<Resealed> {
  async function* whole(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(content);
  }
  const blob = await writeBlob(seal(whole(), [place.recipient]), place.blobs, new AbortController().signal);
  return { ...blob, plaintextBytes: content.length };
}

/** The same ciphertext with one bit that is another, under the digest of the original. */
export async function flipBit(
  place: TestPlace,
  { path, sha256 }: Pick<MadeBackup, "path" | "sha256">,
): Promise<Resealed> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 4;
  const flipped = join(place.dir, "flipped");
  await writeFile(flipped, bytes);
  return { path: flipped, sha256 };
}

/**
 * The size that the maker of such a ciphertext would have signed instead of the original's.
 */
export function sizeOf({ plaintextBytes }: Resealed): { plaintext_size_bytes?: number } {
  return plaintextBytes === undefined ? {} : { plaintext_size_bytes: plaintextBytes };
}

/** The running programs that this process started, or those that it started, by name. */
export function childrenNamed(name: string): number[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid=,comm="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const ours = new Set([process.pid]);
  for (let before = 0; before !== ours.size;) {
    before = ours.size;
    for (const [pid, parent] of rows) if (ours.has(Number(parent))) ours.add(Number(pid));
  }
  return rows.filter(([pid, , comm]) => ours.has(Number(pid)) && comm === name).map(([pid]) => Number(pid));
}
