import { execFileSync } from "node:child_process";
import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [NONCE, TAG] = [16, 16];

interface KeyFile {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  /** Base64, as is `data`: nonce, ciphertext and tag of the repository's master key. */
  readonly salt: string;
  readonly data: string;
}

/**
 * A restic repository whose password is quick to try. Restic chooses a scrypt that takes half a
 * second of a processor, and pays it in each of the dozens of commands that a test starts. The key
 * is restic's own, wrapped again as its design document ("Keys, Encryption and MAC") says.
 */
export function initRestic(repository: string, password: string): void {
  execFileSync("restic", ["--quiet", "--no-cache", "init"], {
    env: { ...process.env, RESTIC_REPOSITORY: repository, RESTIC_PASSWORD: password },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const keys = join(repository, "keys");
  for (const name of readdirSync(keys)) {
    const key = JSON.parse(readFileSync(join(keys, name), "utf8")) as KeyFile;
    const master = unwrap(key, password);
    const quick = { ...key, N: 1024, r: 8, p: 1 };
    const content = JSON.stringify({ ...quick, data: wrap(master, quick, password).toString("base64") });
    rmSync(join(keys, name));
    writeFileSync(join(keys, createHash("sha256").update(content).digest("hex")), content, { mode: 0o400 });
  }
}

interface WrappingKeys {
  readonly encryption: Buffer;
  readonly mac: Buffer;
  readonly r: Buffer;
}

function derive({ N, r, p, salt }: KeyFile, password: string): WrappingKeys {
  const bytes = scryptSync(password, Buffer.from(salt, "base64"), 64, { N, r, p, maxmem: 1 << 28 });
  return { encryption: bytes.subarray(0, 32), mac: bytes.subarray(32, 48), r: bytes.subarray(48) };
}

function unwrap(key: KeyFile, password: string): Buffer {
  const keys = derive(key, password);
  const data = Buffer.from(key.data, "base64");
  const [nonce, ciphertext] = [data.subarray(0, NONCE), data.subarray(NONCE, -TAG)];
  if (!poly1305Aes(keys, nonce, ciphertext).equals(data.subarray(-TAG)))
    throw new Error("restic's key is not wrapped as it was");
  return createDecipheriv("aes-256-ctr", keys.encryption, nonce).update(ciphertext);
}

function wrap(master: Buffer, key: KeyFile, password: string): Buffer {
  const keys = derive(key, password);
  const nonce = randomBytes(NONCE);
  const ciphertext = createCipheriv("aes-256-ctr", keys.encryption, nonce).update(master);
  return Buffer.concat([nonce, ciphertext, poly1305Aes(keys, nonce, ciphertext)]);
}

/** Poly1305-AES, of which Node has no function of its own. */
function poly1305Aes({ mac, r }: WrappingKeys, nonce: Buffer, message: Buffer): Buffer {
  const little = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
  const clamped = little(r) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  let sum = 0n;
  for (let at = 0; at < message.length; at += 16) {
    const block = Buffer.concat([message.subarray(at, at + 16), Buffer.from([1])]);
    sum = ((sum + little(block)) * clamped) % ((1n << 130n) - 5n);
  }
  const cipher = createCipheriv("aes-128-ecb", mac, null).setAutoPadding(false);
  const tag = (sum + little(cipher.update(nonce))) % (1n << 128n);
  return Buffer.from(tag.toString(16).padStart(32, "0"), "hex").reverse();
}
