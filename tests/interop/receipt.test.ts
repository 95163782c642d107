import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  formatPublicKeyPem,
  formatStatement,
  formatVerifierKey,
  pae,
  parsePublicKeyFile,
  PAYLOAD_TYPE,
  sshFingerprint,
  verifyEnvelope,
  verifyReceipt,
  type ReceiptBundle,
} from "@attestore/proof";
import { afterAll, describe, expect, it } from "vitest";
import {
  bundleOf,
  CIPHERTEXT,
  LOG_NAME,
  restoreTestStatement,
  signStatement,
} from "../../packages/proof/test/receipt-fixture.ts";
import { ed25519Key, p256Key, verifierOf, type TestKey } from "../../packages/proof/test/signing-keys.ts";
import { buildGo } from "./go/build.ts";

/**
 * openssl and Go against our receipts, by the commands of docs/verify.md; and ours against
 * openssl's signatures.
 */
const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const guide = readFileSync(join(docs, "verify.md"), "utf8");

const scratch = mkdtempSync(join(tmpdir(), "attestore-receipt-"));
const checkBundle = buildGo(scratch, join(docs, "check-bundle.go"));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

function run(
  program: string,
  args: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Finished {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    ...options,
    env: { PATH: process.env["PATH"] ?? "", ...options.env },
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** The shell block of the guide that has these words in it. */
function shellBlock(words: string): string {
  const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const found = blocks.filter((block) => block.includes(words));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

const log = await ed25519Key(3);
const logKey = formatVerifierKey(verifierOf(log, LOG_NAME));
const statement = restoreTestStatement();

let directories = 0;

/** A directory with what the guide says one needs. */
async function auditorsDirectory(
  agent: TestKey,
  change: (bundle: ReceiptBundle) => void = () => undefined,
): Promise<string> {
  const directory = join(scratch, `auditor-${directories++}`);
  mkdirSync(directory);
  const envelope = await signStatement(statement, agent);
  const bundle = await bundleOf({ statement, envelope, agent, log });
  change(bundle);
  writeFileSync(join(directory, "rcpt.json"), JSON.stringify(bundle, null, 2));
  writeFileSync(join(directory, "agent.pub"), formatPublicKeyPem(agent.publicKey));
  writeFileSync(join(directory, "log.vkey"), `${logKey}\n`);
  writeFileSync(join(directory, "backup.age"), CIPHERTEXT);
  copyFileSync(join(docs, "check-bundle.go"), join(directory, "check-bundle.go"));
  return directory;
}

const shell = (directory: string, script: string, env: Record<string, string> = {}): Finished =>
  run("bash", ["-euo", "pipefail", "-c", script], { cwd: directory, env });

const OTHER_RESULT = (bundle: ReceiptBundle): void => {
  const payload = Buffer.from(bundle.envelope.payload, "base64").toString();
  const changed = payload.replace("20000", "20001");
  expect(changed).not.toBe(payload);
  bundle.envelope.payload = Buffer.from(changed).toString("base64");
};

/** The same envelope in base64's other alphabet, and the leaf as it is. */
const URL_SAFE = ({ envelope }: ReceiptBundle): void => {
  const [signature] = envelope.signatures;
  expect(signature.sig + envelope.payload).toMatch(/[+/]/);
  const other = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");
  envelope.payload = other(envelope.payload);
  signature.sig = other(signature.sig);
};

describe("the guide's commands, with openssl", () => {
  const ed25519 = shellBlock("openssl pkeyutl");
  const p256 = ed25519.replace(
    /openssl pkeyutl .*/,
    "openssl dgst -sha256 -verify agent.pub -signature signature signed",
  );

  it("accept an envelope in the URL-safe alphabet", async () => {
    const directory = await auditorsDirectory(await ed25519Key(1), URL_SAFE);
    expect(shell(directory, ed25519)).toMatchObject({ status: 0 });
  });

  it("contain the command for ECDSA keys that this test runs", () => {
    expect(guide).toContain("`openssl dgst -sha256 -verify agent.pub -signature signature signed`");
  });

  it.each([
    ["Ed25519", () => ed25519Key(1), ed25519, "Signature Verified Successfully"],
    ["ECDSA P-256", () => p256Key(), p256, "Verified OK"],
  ])("accept a receipt's %s signature, and refuse it changed", async (_name, makeKey, script, words) => {
    const agent = await makeKey();
    const good = shell(await auditorsDirectory(agent), script);
    expect(good, good.stderr).toMatchObject({ status: 0 });
    expect(good.stdout).toContain(words);
    const bad = shell(await auditorsDirectory(agent, OTHER_RESULT), script);
    expect(bad.status).not.toBe(0);
    expect(bad.stdout).not.toContain(words);
  });

  it("read the receipt, and compare it with the file", async () => {
    const directory = await auditorsDirectory(await ed25519Key(1));
    shell(directory, ed25519);
    const says = shell(directory, shellBlock("jq .predicate"));
    expect(says, says.stderr).toMatchObject({ status: 0 });
    expect(says.stdout).toMatch(/"n": 20000[\s\S]*\ntrue\n$/);
    const compare = shellBlock("sha256sum");
    expect(shell(directory, compare)).toMatchObject({ status: 0, stdout: "same\n" });
    writeFileSync(join(directory, "backup.age"), "other bytes");
    expect(shell(directory, compare)).toMatchObject({ status: 1, stdout: "" });
  });
});

describe("the guide's Go program", () => {
  it("is run as the guide says", async () => {
    const directory = await auditorsDirectory(await ed25519Key(1));
    const { status, stdout, stderr } = shell(directory, shellBlock("go run check-bundle.go"), {
      PATH: `/usr/lib/go-1.19/bin:${process.env["PATH"] ?? ""}`,
      HOME: scratch,
      GOCACHE: join(scratch, "go-cache"),
    });
    expect(status, stderr).toBe(0);
    expect(stdout).toBe(`leaf 5 of 11: in the log of ${LOG_NAME}\n`);
  });

  const go = async (change?: (bundle: ReceiptBundle) => void, key = logKey): Promise<Finished> =>
    run(checkBundle, [join(await auditorsDirectory(await ed25519Key(1), change), "rcpt.json"), key]);

  it("accepts the same receipts as we do", async () => {
    expect(await go()).toMatchObject({ status: 0, stderr: "" });
    expect(await go(URL_SAFE)).toMatchObject({ status: 0, stderr: "" });
  });

  it.each<[string, (bundle: ReceiptBundle) => void, string]>([
    ["another payload", OTHER_RESULT, "another payload"],
    ["another signature", (bundle) => (bundle.envelope.signatures[0].sig = "AAAA"), "another signature"],
    [
      "a payload that was never logged, beside one that was, under a name that only Go takes for the same",
      ({ envelope }) =>
        Object.assign(envelope, {
          payload: Buffer.from("{}").toString("base64"),
          signatures: [{ keyid: "", sig: "AAAA" }],
          Payload: envelope.payload,
          Signatures: envelope.signatures,
        }),
      "another payload",
    ],
    [
      "a payload in another spelling of base64, which openssl reads otherwise",
      ({ envelope }) =>
        (envelope.payload = `${envelope.payload.slice(0, 64)}\n${envelope.payload.slice(64)}`),
      "base64",
    ],
    ["a hash that is too long", (bundle) => (bundle.inclusion_proof.hashes[0] += "00"), "malformed hash"],
    [
      "a log that went on as its next generation, which it says",
      (bundle) => (bundle.checkpoint = bundle.checkpoint.replace(`${LOG_NAME}\n`, `${LOG_NAME}/2\n`)),
      `${LOG_NAME}/2 is a later generation of the log`,
    ],
    ["another leaf", (bundle) => (bundle.leaf.recorded_at = "2020-01-01T00:00:00.000Z"), "invalid"],
    ["another place", (bundle) => (bundle.inclusion_proof.log_index = 4), "invalid"],
    ["another hash", (bundle) => (bundle.inclusion_proof.hashes[1] = "00".repeat(32)), "invalid"],
    [
      "another size",
      (bundle) => (bundle.checkpoint = bundle.checkpoint.replace("\n11\n", "\n12\n")),
      "invalid signature",
    ],
  ])("refuses %s", async (_what, change, words) => {
    const { status, stderr } = await go(change);
    expect(status).toBe(1);
    expect(stderr).toContain(words);
  });

  it("refuses another log's key", async () => {
    const other = formatVerifierKey(verifierOf(await ed25519Key(4), LOG_NAME));
    expect((await go(undefined, other)).status).toBe(1);
  });
});

describe("a receipt that openssl signed", () => {
  const payload = formatStatement(statement);

  it.each<[string, string[], (key: string, message: string, out: string) => string[]]>([
    [
      "Ed25519",
      ["-algorithm", "ed25519"],
      (key, message, out) => ["pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", message, "-out", out],
    ],
    [
      "ECDSA P-256",
      ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
      (key, message, out) => ["dgst", "-sha256", "-sign", key, "-out", out, message],
    ],
  ])("with %s is true to us", async (name, algorithm, signArgs) => {
    const file = (kind: string): string => join(scratch, `${name.replaceAll(" ", "-")}.${kind}`);
    const openssl = (...args: string[]): void => {
      const { status, stderr } = run("openssl", args);
      expect(status, stderr).toBe(0);
    };
    openssl("genpkey", ...algorithm, "-out", file("key"));
    openssl("pkey", "-in", file("key"), "-pubout", "-out", file("pub"));
    const publicKey = parsePublicKeyFile(readFileSync(file("pub"), "utf8"));
    writeFileSync(file("pae"), pae(PAYLOAD_TYPE, payload));
    openssl(...signArgs(file("key"), file("pae"), file("sig")));
    const signature = new Uint8Array(readFileSync(file("sig")));
    const envelope = { payloadType: PAYLOAD_TYPE, payload, keyid: sshFingerprint(publicKey), signature };
    await verifyEnvelope(envelope, publicKey);
    expect(await verifyReceipt({ envelope, publicKey })).toMatchObject({ verdict: "true" });
    await expect(verifyEnvelope({ ...envelope, payloadType: "text/plain" }, publicKey)).rejects.toThrow();
  });
});
