import { expect, test } from "vitest";
import { ed25519Key } from "../test/signing-keys.ts";
import { keyKind } from "./key-kind.ts";
import { formatPublicKeyPem } from "./keys/key-file.ts";
import { formatPublicKeyWire } from "./keys/public-key.ts";
import { formatSshLine } from "./keys/ssh.ts";
import { formatVerifierKey, noteVerifier } from "./notes/verifier-key.ts";

const { publicKey } = await ed25519Key(1);
const random = "A".repeat(43);

test.each([
  ["public", formatPublicKeyPem(publicKey)],
  ["public", `${formatSshLine(publicKey)} host-1\n`],
  ["public", formatPublicKeyWire(publicKey)],
  ["log", `${formatVerifierKey(noteVerifier("log.example/org", "ed25519", publicKey.bytes))}\n`],
  ["witness", formatVerifierKey(noteVerifier("agent_1", "cosignature/v1", publicKey.bytes))],
  ["private", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----\n"],
  ["private", "PRIVATE+KEY+log+00000000+AAAA"],
  ["identity", `# created: now\nAGE-SECRET-KEY-1${"Q".repeat(58)}\n`],
  ["recipient", `age1${"q".repeat(58)}`],
  ["auth_key", `atk_0123456789_${"a".repeat(32)}`],
  ["token", `ats_${random}`],
  ["token", `atss_${random}`],
  ["certificate", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"],
  ["fingerprint", `SHA256:${random}`],
  [null, "hunter2"],
  [null, ""],
  [null, "log.example/org+00000000+AAAA"],
  [null, "x".repeat(100_000)],
])("the kind of key is told: %s", (kind, text) => {
  expect(keyKind(text)).toBe(kind);
});
