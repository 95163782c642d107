/**
 * The service's keys in a token of SoftHSM's: moved there from files, used, out of reach, and
 * verified by others.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync, mkdtempSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatPublicKeyPem, publicKeyFromBytes } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestToken, type TestToken } from "../../packages/orchestrator/test/test-token.ts";
import { type BackupRecord, declareSource, writeEncryptedDump } from "./harness/backups.ts";
import { seal } from "./harness/dsse.ts";
import { api } from "./harness/https.ts";
import { attach, createAuthKey, type WireAgent } from "./harness/organisation.ts";
import { expectPlaced } from "./harness/placement.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";
import { accepted, backupStatement, restoreTestStatement, submit } from "./harness/statements.ts";
import { until } from "./harness/wait.ts";

const VERIFY = fileURLToPath(new URL("../interop/second-verifier/verify.py", import.meta.url));

let scratch: string;
let hsm: TestToken;
let server: Server;
let owner: string;
let agent: WireAgent;
let backup: BackupRecord;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "attestore-e2e-token-"));
  hsm = await createTestToken();
  settings({});
  server = await startServer({ ATTESTORE_CONFIG: join(scratch, "config"), ...hsm.environment });
  const { token, orgId } = await signUp([server]);
  owner = token;
  agent = await attach({ server, id: orgId, authKey: await createAuthKey(server, orgId) });
  backup = await writeEncryptedDump(agent, await declareSource(agent));
  await accepted(agent, backupStatement(agent, backup));
});
afterAll(async () => {
  await server.remove();
  await hsm.remove();
  rmSync(scratch, { recursive: true });
});

/** Writes the files with the settings that the next start reads. */
function settings(changed: Record<string, string>): void {
  writeFileSync(join(scratch, "pin"), `${hsm.pin}\n`, { mode: 0o600 });
  const inToken = {
    ATTESTORE_PKCS11_MODULE: hsm.module,
    ATTESTORE_PKCS11_PIN: `file:${join(scratch, "pin")}`,
    ATTESTORE_LOG_KEY: hsm.uri("log"),
    ATTESTORE_TIME_KEY: hsm.uri("time"),
    ATTESTORE_CA_KEY: hsm.uri("ca"),
    ATTESTORE_SEALING_KEY: hsm.uri("sealing"),
  };
  const all: Record<string, string> = Object.keys(changed).length === 0 ? {} : { ...inToken, ...changed };
  writeFileSync(
    join(scratch, "config"),
    Object.entries(all)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
}
const IN_TOKEN = { ATTESTORE_LOG_LEVEL: "info" };

const keyFiles = (): string[] =>
  [...readdirSync(join(server.data, "keys")), ...readdirSync(join(server.data, "tls"))].toSorted();

/** The process that the module is loaded into. */
function tokenProcess(): number {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
      const environment = readFileSync(`/proc/${name}/environ`, "utf8");
      if (command.includes("token-process") && environment.includes(hsm.environment.SOFTHSM2_CONF))
        return Number(name);
    } catch {
      // It ended meanwhile.
    }
  }
  throw new Error("no process has the module");
}

/** No placement and no checkpoint: nothing that an agent could take for an acknowledgement. */
const UNAVAILABLE =
  /503 \{"error":"unavailable","message":"The service cannot use its keys right now\.","request_id":"[^"]*","details":\{\}\}$/;

const sign = () => submit(agent, seal(agent.signer, restoreTestStatement(agent, backup)));

test("a start with keys in files and a token in the settings is refused, with a message on how to move them", async () => {
  await server.stop();
  settings(IN_TOKEN);
  await expect(server.start()).rejects.toThrow(/no such key[^]*keys move/);
});

test("moving the keys to a token keeps those of the logs and the CA, seals again, and leaves the files until somebody removes them", async () => {
  const before = keyFiles();
  const first = await server.cliJson<{ keys: Record<string, unknown>[]; files_left: string[] }>(
    "keys",
    "move",
  );
  expect(first.keys.map(({ key, is }) => `${String(key)} ${String(is)}`)).toEqual([
    "log moved",
    "time moved",
    "ca moved",
    "sealing moved",
  ]);
  expect(first.files_left).toHaveLength(4);
  expect(keyFiles()).toEqual(before);
  // As after a kill between the token and the files: all of it again.
  const again = await server.cliJson<{ keys: { is: string }[] }>("keys", "move", "--remove-files");
  expect(again.keys.map(({ is }) => is)).toEqual(Array.from({ length: 4 }, () => "there already"));
  expect(keyFiles()).toEqual(["ca.pem", "object-urls.key", "server.pem"]);
});

test("a token signs receipts with the logs' previous key, and other verifiers accept them", async () => {
  // The next certificate is signed by the token's authority key, and every call here trusts the
  // authority of before.
  rmSync(join(server.data, "tls", "server.pem"));
  await server.start();
  const receipt = await accepted(agent, restoreTestStatement(agent, backup));
  expectPlaced(agent, receipt, receipt.receipt_id);
  const bundle = await api(server, {
    method: "GET",
    path: `/api/receipts/${receipt.receipt_id}/bundle`,
    token: owner,
  });
  expect(bundle.status, bundle.body.toString()).toBe(200);
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(scratch, name), content);
    return join(scratch, name);
  };
  const { status, stdout, stderr } = spawnSync(
    "python3",
    [
      "-B",
      VERIFY,
      file("bundle.json", bundle.body),
      file("log.vkey", `${agent.log.verifier_key}\n`),
      file("agent.pub", formatPublicKeyPem(publicKeyFromBytes(Buffer.from(agent.signer.wire, "base64")))),
    ],
    { encoding: "utf8" },
  );
  expect(`${status} ${stdout}${stderr}`).toMatch(/^0 TRUE passed/);
});

test("the same key signs after a restart, and a repeated request gets the same answer", async () => {
  const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
  const first = await submit(agent, envelope);
  expect(first.status).toBe(201);
  await server.kill();
  await server.start();
  const again = await submit(agent, envelope);
  expect(again.status).toBe(201);
  expect(again.json()).toEqual(first.json());
});

test("no private key is in the service's files or memory while a token holds it", async () => {
  expect(keyFiles()).toEqual(["ca.pem", "object-urls.key", "server.pem"]);
  const listed = await server.cliJson<{ key: string; place: string; is_there: boolean }[]>("keys", "list");
  expect(listed.map(({ place, is_there }) => [place, is_there])).toEqual(
    ["log", "time", "ca", "sealing"].map((name) => [hsm.uri(name), true]),
  );
  // The module is in another process than the service, which could read nothing out of it.
  const parent = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${tokenProcess()}/status`, "utf8"))?.[1]);
  expect(readFileSync(`/proc/${parent}/maps`, "utf8")).not.toMatch(/softhsm|koffi/);
  expect(readFileSync(`/proc/${tokenProcess()}/maps`, "utf8")).toMatch(/softhsm/);
});

test("while the token does not answer, the service answers 503 and acknowledges nothing; then it continues", async () => {
  const hung = tokenProcess();
  process.kill(hung, "SIGSTOP");
  const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
  await expect(submit(agent, envelope)).rejects.toThrow(UNAVAILABLE);
  await until("the process that hung is ended", () => !readdirSync("/proc").includes(String(hung)));
  expect((await submit(agent, envelope)).status).toBe(201);
  await until("the service has said why", () => server.talk().includes("no answer within 5 s"));
});

test("while the token is unplugged, the service answers 503", async () => {
  await hsm.unplug();
  process.kill(tokenProcess(), "SIGKILL");
  const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
  await expect(submit(agent, envelope)).rejects.toThrow(UNAVAILABLE);
  const { stdout } = await server.cli("doctor", "--json");
  const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
  expect(findings.find(({ check }) => check === "keys")).toMatchObject({
    level: "failed",
    next: expect.stringContaining("takes no receipts"),
  });
  await hsm.plugIn();
  expect((await submit(agent, envelope)).status).toBe(201);
  expect((await sign()).status).toBe(201);
});

test("a start without the token, with a wrong PIN or without the module says why it fails, and what to do", async () => {
  await server.stop();
  await hsm.unplug();
  await expect(server.start()).rejects.toThrow(
    /exit code 2[^]*The key token[^]*Check that the token is connected/,
  );
  await hsm.plugIn();
  settings({ ...IN_TOKEN, ATTESTORE_PKCS11_MODULE: "/usr/lib/nothing.so" });
  await expect(server.start()).rejects.toThrow(
    /exit code 2[^]*is not a PKCS#11 module[^]*ATTESTORE_PKCS11_MODULE/,
  );
  settings({ ...IN_TOKEN, ATTESTORE_PKCS11_PIN: "99999999" });
  const failed = await server.start().catch(String);
  expect(failed).toMatch(/exit code 3[^]*CKR_PIN_INCORRECT[^]*ATTESTORE_PKCS11_PIN/);
  expect(failed).not.toContain("99999999");
  settings({ ...IN_TOKEN, ATTESTORE_LOG_KEY: hsm.uri("time") });
  await expect(server.start()).rejects.toThrow(
    /exit code 2[^]*not the key that this database was written with/,
  );
  settings(IN_TOKEN);
  await server.start();
  expect((await sign()).status).toBe(201);
});
