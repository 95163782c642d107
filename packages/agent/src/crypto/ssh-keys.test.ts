import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seal } from "./seal.ts";
import { unseal } from "./unseal.ts";
import { parseIdentities } from "./age-identity.ts";
import { identityFrom, recipientOf } from "./identity.ts";
import { normalRecipient, recipientFrom } from "./recipient.ts";
import { parseSshPrivateKey, SshKeyError } from "./ssh-private-key.ts";
import { parseSshPublicKey, parseSshWire } from "./ssh-public-key.ts";

let base: string;
const at = (name: string): string => join(base, name);
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-ssh-"));
  const keygen = (name: string, ...type: string[]): void =>
    void execFileSync("ssh-keygen", ["-q", "-N", "", "-C", "somebody@host", "-f", at(name), ...type]);
  keygen("ed25519", "-t", "ed25519");
  keygen("other", "-t", "ed25519");
  keygen("rsa", "-t", "rsa", "-b", "2048");
  keygen("rsa-3071", "-t", "rsa", "-b", "3072");
  keygen("rsa-pem", "-t", "rsa", "-b", "2048", "-m", "PEM");
  keygen("ecdsa", "-t", "ecdsa");
  execFileSync("ssh-keygen", ["-q", "-N", "secret!", "-t", "ed25519", "-f", at("locked")]);
});
afterAll(() => rmSync(base, { recursive: true }));

const file = (name: string): string => readFileSync(at(name), "utf8");

async function sealed(text: string, recipients: string[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of seal(one(Buffer.from(text)), recipients)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}
async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}
async function opened(bytes: Buffer, identity: string): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(one(bytes), [identity])) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

const KEYS = ["ed25519", "rsa", "rsa-3071", "rsa-pem"];

it.each(KEYS)("the agent encrypts to an SSH key (%s) that age and we decrypt", async (name) => {
  const bytes = await sealed("hello", [file("other.pub").trim(), file(`${name}.pub`).trim()]);
  writeFileSync(at("out.age"), bytes);
  const zstd = execFileSync("age", ["-d", "-i", at(name), at("out.age")]);
  expect(execFileSync("zstd", ["-dc"], { input: zstd }).toString()).toBe("hello");
  expect(await opened(bytes, file(name))).toBe("hello");
  expect(await opened(bytes, file("other"))).toBe("hello");
});

it.each(KEYS)("the agent decrypts what age encrypted to an SSH key (%s)", async (name) => {
  const zstd = execFileSync("zstd", ["-c"], { input: "from age" });
  const bytes = execFileSync("age", ["-e", "-R", at(`${name}.pub`)], { input: zstd });
  const [identity = ""] = parseIdentities(file(name), name);
  expect(await opened(bytes, identity)).toBe("from age");
  await expect(opened(bytes, file("other"))).rejects.toMatchObject({ code: "identity_missing" });
});

it("an SSH key's public half is written as ssh-keygen does, without the comment", async () => {
  for (const name of KEYS) expect(await recipientOf(file(name))).toBe(normalRecipient(file(`${name}.pub`)));
});

it("an SSH private key may be in PKCS#8", async () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const bytes = await sealed("pkcs8", [await recipientOf(pem)]);
  expect(await opened(bytes, pem)).toBe("pkcs8");
});

it("SSH keys with a passphrase, of other kinds, or damaged are refused, and not quoted", () => {
  expect(() => identityFrom(file("locked"))).toThrow(/passphrase/);
  expect(() => identityFrom(file("ecdsa"))).toThrow(SshKeyError);
  expect(recipientFrom(file("ecdsa.pub"))).toBeNull();
  const lines = file("ed25519").split("\n");
  const damaged = [...lines.slice(0, 2), `A${lines[2]?.slice(1)}`, ...lines.slice(3)].join("\n");
  expect(() => identityFrom(damaged)).toThrow(SshKeyError);
  expect(recipientFrom(`ssh-ed25519 ${file("rsa.pub").split(" ")[1]}`)).toBeNull();
  expect(recipientFrom("age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8q")).toBeNull();
});

it("arbitrary bytes give typed errors only", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      parseSshWire(Buffer.from(bytes));
      parseSshPublicKey(`ssh-ed25519 ${Buffer.from(bytes).toString("base64")}`);
      const body = Buffer.concat([Buffer.from("openssh-key-v1\0"), bytes]).toString("base64");
      try {
        parseSshPrivateKey(
          `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`,
        );
      } catch (error) {
        expect(error).toBeInstanceOf(SshKeyError);
      }
    }),
  );
  const original = Buffer.from(file("ed25519").split("\n").slice(1, -2).join(""), "base64");
  fc.assert(
    fc.property(fc.nat(original.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
      const bytes = Buffer.from(original);
      bytes[place] = (bytes[place] ?? 0) ^ change;
      try {
        parseSshPrivateKey(
          `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString("base64")}\n-----END OPENSSH PRIVATE KEY-----\n`,
        );
      } catch (error) {
        expect(error).toBeInstanceOf(SshKeyError);
      }
    }),
  );
});
