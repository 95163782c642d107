/** What tests of whole runs share: a place, keys, and a look at what is left. */
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";

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
  // Whoever a scratch server runs as has to walk through it.
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

/** The running programs that were started by this process, by name. */
export function childrenNamed(name: string): number[] {
  try {
    return execFileSync("pgrep", ["-x", "-P", String(process.pid), name], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map(Number);
  } catch {
    // pgrep's way to say that there is none.
    return [];
  }
}
