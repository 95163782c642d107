import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { formatPublicKeyPem, formatSshLine, parsePublicKeyFile, sshFingerprint } from "../../src/index.ts";
import { ed25519Key, p256Key } from "../signing-keys.ts";

const home = mkdtempSync(join(tmpdir(), "attestore-proof-"));
afterAll(() => {
  rmSync(home, { recursive: true });
});

function run(program: string, ...args: string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (error) throw error;
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

describe("ssh-keygen", () => {
  it("prints the same fingerprints as this package", async () => {
    for (const { publicKey } of [await ed25519Key(3), await p256Key()]) {
      const file = join(home, "ours.pub");
      writeFileSync(file, `${formatSshLine(publicKey)}\n`);
      expect(run("ssh-keygen", "-lf", file).split(" ")[1]).toBe(sshFingerprint(publicKey));
    }
  });

  it.each(["ed25519", "ecdsa"])("makes %s keys that we read, in both of its forms", (type) => {
    const file = join(home, type);
    run("ssh-keygen", "-q", "-t", type, "-N", "", "-C", "a comment", "-f", file);
    const key = parsePublicKeyFile(readFileSync(`${file}.pub`, "utf8"));
    expect(run("ssh-keygen", "-lf", file).split(" ")[1]).toBe(sshFingerprint(key));
  });
});

describe("OpenSSL", () => {
  it("writes the same PEM as this package", async () => {
    for (const { publicKey } of [await ed25519Key(3), await p256Key()]) {
      const file = join(home, "key.pem");
      writeFileSync(file, formatPublicKeyPem(publicKey));
      expect(run("openssl", "pkey", "-pubin", "-in", file)).toBe(formatPublicKeyPem(publicKey));
    }
  });
});
