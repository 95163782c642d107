import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesUnder } from "./harness/files.ts";
import { attachedHost, type Host } from "./harness/host.ts";
import { ed25519, p256, type Signer } from "./harness/keys.ts";
import { createOrganisation } from "./harness/organisation.ts";
import { unknownId } from "./harness/patterns.ts";
import { run, type Finished } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";

/** Nobody has to trust us: the service is stopped before the verifier is asked anything. */

let server: Server;
let host: Host;
let data: string;
let receipts: string[];
let ciphertext: string;
let logKey: string;
let agentKey: string;

beforeAll(async () => {
  server = await startServer();
  data = mkdtempSync(join(tmpdir(), "attestore-e2e-offline-"));
  const path = join(data, "kv.db");
  const kv = new DatabaseSync(path);
  kv.exec("create table kv (k integer primary key, v text); insert into kv values (1, 'one'), (2, 'two');");
  kv.close();
  host = await attachedHost(await createOrganisation(server));
  host.addSources(`  kv:
    engine: sqlite
    path: ${path}
    checks:
      - { id: two, query: "select count(*) as n from kv", expect: "n = 2" }
`);
  for (const command of ["backup", "restore-test"]) {
    const done = await host.run(command, "--source", "kv");
    if (done.code !== 0) throw new Error(`${command}: exit code ${done.code}\n${done.stdout}${done.stderr}`);
  }
  receipts = host.receipts().map(({ file }) => file);
  [ciphertext = ""] = filesUnder(join(server.data, "objects")).filter((file) => file.endsWith(".age"));
  agentKey = join(host.root, "keys", "agent.pub");
  logKey = readFileSync(join(host.root, "keys", "log.vkey"), "utf8").trim();
  await server.stop();
});
afterAll(async () => {
  host.remove();
  rmSync(data, { recursive: true, force: true });
  await server.remove();
});

const verify = (...args: string[]): Promise<Finished> => run("attestore-verify", args);

/** A copy of a receipt with one thing changed. */
function forged(change: (bundle: Record<string, unknown>) => void): string {
  const bundle = JSON.parse(readFileSync(receipts[1] ?? "", "utf8")) as Record<string, unknown>;
  change(bundle);
  const path = join(data, "forged.json");
  writeFileSync(path, JSON.stringify(bundle));
  return path;
}

describe("attestore-verify, with the service stopped", () => {
  it("finds every receipt true and names its checks", async () => {
    expect(receipts).toHaveLength(2);
    const { code, stdout, stderr } = await verify(...receipts, "--key", agentKey, "--log-key", logKey);
    expect(code, stdout + stderr).toBe(0);
    for (const word of ["signature", "statement", "inclusion", "checkpoint"]) {
      expect(stdout.toLowerCase()).toContain(word);
    }
  });

  it("compares the ciphertext with the receipt", async () => {
    const args = [receipts[1] ?? "", "--key", agentKey, "--log-key", logKey];
    expect((await verify(...args, "--ciphertext", ciphertext)).code).toBe(0);
    const bytes = readFileSync(ciphertext);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    const other = join(data, "other.age");
    writeFileSync(other, bytes);
    const refused = await verify(...args, "--ciphertext", other);
    expect(refused.code, refused.stdout).toBe(1);
    expect(refused.stdout.toLowerCase()).toContain("ciphertext");
  });

  it("prints the result as JSON", async () => {
    const { code, stdout } = await verify(...receipts, "--key", agentKey, "--log-key", logKey, "--json");
    expect(code).toBe(0);
    expect(JSON.stringify(JSON.parse(stdout))).toMatch(/"verdict":"?true/);
  });

  it("refuses another agent's key", async () => {
    const other = join(data, "other.pub");
    writeFileSync(other, ed25519().publicKey.export({ format: "pem", type: "spki" }));
    expect((await verify(...receipts, "--key", other, "--log-key", logKey)).code).toBe(1);
    writeFileSync(other, p256().publicKey.export({ format: "pem", type: "spki" }));
    expect((await verify(...receipts, "--key", other, "--log-key", logKey)).code).toBe(1);
  });

  it("refuses another log's key, under this log's name or under its own", async () => {
    const [origin = ""] = logKey.split("+");
    for (const name of [origin, `log.example.org/${unknownId("org")}`]) {
      const key = verifierKey(name, ed25519());
      const refused = await verify(...receipts, "--key", agentKey, "--log-key", key);
      expect(refused.code, refused.stdout).toBe(1);
    }
  });

  it.each<[string, (bundle: Record<string, unknown>) => void]>([
    [
      "the result",
      (bundle) => editPayload(bundle, (text) => text.replace('"observed":{"n":2}', '"observed":{"n":3}')),
    ],
    ["the signature", (bundle) => editSignature(bundle)],
    [
      "the leaf",
      (bundle) => Object.assign(bundle["leaf"] as object, { recorded_at: "2020-01-01T00:00:00.000Z" }),
    ],
    [
      "the place in the log",
      (bundle) => {
        const proof = bundle["inclusion_proof"] as { log_index: number };
        proof.log_index -= 1;
      },
    ],
    [
      "the proof",
      (bundle) => {
        const proof = bundle["inclusion_proof"] as { hashes: string[] };
        proof.hashes = proof.hashes.map((hash) => hash.replace(/^./, (c) => (c === "0" ? "1" : "0")));
      },
    ],
    [
      "the checkpoint",
      (bundle) => (bundle["checkpoint"] = String(bundle["checkpoint"]).replace(/\n\d+\n/, "\n99\n")),
    ],
  ])("refuses a receipt with %s changed", async (_what, change) => {
    const path = forged(change);
    expect(readFileSync(path, "utf8")).not.toBe(
      JSON.stringify(JSON.parse(readFileSync(receipts[1] ?? "", "utf8"))),
    );
    const { code, stdout } = await verify(path, "--key", agentKey, "--log-key", logKey);
    expect(code, stdout).toBe(1);
  });

  it('says "cannot tell" about a file that is not a receipt', async () => {
    const path = join(data, "noise.json");
    for (const text of ["", "{", "[]", '{"hello":1}', "\u0000"]) {
      writeFileSync(path, text);
      const { code, stdout, stderr } = await verify(path, "--key", agentKey);
      expect(code, stdout + stderr).toBe(2);
      expect(stderr + stdout).not.toMatch(/\n\s+at .+:\d+/);
    }
    expect((await verify(join(data, "nowhere.json"), "--key", agentKey)).code).toBe(2);
    expect((await verify(receipts[0] ?? "", "--key", join(data, "nowhere.pub"))).code).toBe(2);
    expect((await verify()).code).toBe(2);
  });

  it("calls many receipts false if one of them is false", async () => {
    const path = forged(editSignature);
    const { code } = await verify(...receipts, path, "--key", agentKey, "--log-key", logKey);
    expect(code).toBe(1);
  });
});

function editPayload(bundle: Record<string, unknown>, change: (text: string) => string): void {
  const envelope = bundle["envelope"] as { payload: string };
  const text = Buffer.from(envelope.payload, "base64").toString("utf8");
  envelope.payload = Buffer.from(change(text)).toString("base64");
}

function editSignature(bundle: Record<string, unknown>): void {
  const { signatures } = bundle["envelope"] as { signatures: { sig: string }[] };
  for (const signature of signatures) {
    const bytes = Buffer.from(signature.sig, "base64");
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    signature.sig = bytes.toString("base64");
  }
}

/** The verifier key of a log of the test's own. */
function verifierKey(name: string, signer: Signer): string {
  const key = Buffer.concat([Buffer.of(1), Buffer.from(signer.wire, "base64")]);
  const id = createHash("sha256").update(`${name}\n`).update(key).digest("hex").slice(0, 8);
  return `${name}+${id}+${key.toString("base64")}`;
}
