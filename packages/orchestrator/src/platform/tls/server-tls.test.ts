import { execFile, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import { loadServerTls } from "./server-tls.ts";
import type { TlsSettings } from "./server-tls.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = new Date("2026-11-20T12:00:00Z");

let root: string;
let settings: TlsSettings;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tls-"));
  settings = { directory: join(root, "tls"), hostnames: ["backup.example.org", "192.0.2.7"] };
});
afterEach(() => rm(root, { recursive: true }));

const openssl = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)("openssl", args)).stdout;

async function leaf(): Promise<X509Certificate> {
  return new X509Certificate(await readFile(join(settings.directory, "server.pem")));
}

/** One handshake of `openssl s_client`, and what it said. */
async function handshake(port: number, ...args: string[]): Promise<{ ok: boolean; talk: string }> {
  const client = spawn("openssl", ["s_client", "-connect", `127.0.0.1:${port}`, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let talk = "";
  client.stdout.on("data", (chunk: Buffer) => (talk += chunk.toString()));
  client.stderr.on("data", (chunk: Buffer) => (talk += chunk.toString()));
  client.stdin.end("Q\n");
  const [exitCode] = (await once(client, "close")) as [number | null];
  return { ok: exitCode === 0, talk };
}

async function withServer(work: (port: number) => Promise<void>): Promise<void> {
  const { options } = await loadServerTls(settings, silentLogger);
  const server: Server = createServer(options).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("openssl connects by TLS 1.3 with each of the three suites, verified by the CA; TLS 1.2 and other suites are refused", async () => {
  await withServer(async (port) => {
    const verified = ["-CAfile", join(settings.directory, "ca.pem"), "-verify_return_error"];
    for (const suite of [
      "TLS_AES_256_GCM_SHA384",
      "TLS_CHACHA20_POLY1305_SHA256",
      "TLS_AES_128_GCM_SHA256",
    ]) {
      const { ok, talk } = await handshake(
        port,
        "-tls1_3",
        "-ciphersuites",
        suite,
        "-verify_hostname",
        "localhost",
        ...verified,
      );
      expect(ok, talk).toBe(true);
      expect(talk).toContain(`Cipher is ${suite}`);
      expect(talk).toContain("Verify return code: 0 (ok)");
    }
    for (const refused of [["-tls1_2"], ["-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_SHA256"]]) {
      const { ok, talk } = await handshake(port, ...refused);
      expect(ok, talk).toBe(false);
      expect(talk).toContain("Cipher is (NONE)");
    }
    const wrongName = await handshake(port, "-verify_hostname", "elsewhere.example.org", ...verified);
    expect(wrongName.ok).toBe(false);
  });
});

test("openssl verifies the leaf for every name, under an authority that cannot make further ones", async () => {
  await loadServerTls(settings, silentLogger);
  const ca = join(settings.directory, "ca.pem");
  const server = join(settings.directory, "server.pem");
  const verify = (...names: string[]): Promise<string> =>
    openssl("verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", ca, ...names, server);
  for (const name of ["localhost", hostname(), "backup.example.org"])
    expect(await verify("-verify_hostname", name)).toContain("OK");
  for (const ip of ["127.0.0.1", "::1", "192.0.2.7"]) expect(await verify("-verify_ip", ip)).toContain("OK");
  await expect(verify("-verify_hostname", "other.example.org")).rejects.toThrow();
  const text = await openssl("x509", "-in", ca, "-noout", "-text");
  expect(text).toContain("CA:TRUE, pathlen:0");
  expect(text).toContain("NIST CURVE: P-256");
});

test("private keys are for the owner alone, and nothing temporary is left", async () => {
  await loadServerTls(settings, silentLogger);
  expect((await readdir(settings.directory)).sort()).toEqual(["ca.key", "ca.pem", "server.pem"]);
  const mode = async (name: string): Promise<number> =>
    (await stat(join(settings.directory, name))).mode & 0o777;
  expect([await mode("ca.key"), await mode("server.pem"), await mode("ca.pem")]).toEqual([
    0o600, 0o600, 0o644,
  ]);
});

test("the leaf stays while it lasts, is renewed near its end, when names change and when damaged; the CA stays", async () => {
  const at = async (days: number): Promise<string> => {
    await loadServerTls(settings, silentLogger, new Date(NOW.getTime() + days * DAY_MS));
    return (await leaf()).serialNumber;
  };
  const first = await at(0);
  const ca = await readFile(join(settings.directory, "ca.pem"), "utf8");
  expect(await at(300)).toBe(first);
  const renewed = await at(320);
  expect(renewed).not.toBe(first);

  settings.hostnames.push("second.example.org");
  const wider = await at(321);
  expect(wider).not.toBe(renewed);
  expect((await leaf()).checkHost("second.example.org")).toBe("second.example.org");
  settings.hostnames.pop();
  const narrower = await at(322);
  expect(narrower).not.toBe(wider);
  expect((await leaf()).checkHost("second.example.org")).toBeUndefined();

  await writeFile(join(settings.directory, "server.pem"), "damaged");
  expect(await at(323)).not.toBe(narrower);
  expect(await readFile(join(settings.directory, "ca.pem"), "utf8")).toBe(ca);
  // The leaf of the authority's last year ends with it.
  await at(3600);
  expect(new Date((await leaf()).validTo)).toEqual(new Date(new X509Certificate(ca).validTo));
});

test("a crash between the authority's key and its certificate is made good; a lost key is not replaced", async () => {
  await loadServerTls(settings, silentLogger);
  const key = await readFile(join(settings.directory, "ca.key"), "utf8");
  await rm(join(settings.directory, "ca.pem"));
  await loadServerTls(settings, silentLogger);
  expect(await readFile(join(settings.directory, "ca.key"), "utf8")).toBe(key);
  const authority = new X509Certificate(await readFile(join(settings.directory, "ca.pem")));
  expect((await leaf()).verify(authority.publicKey)).toBe(true);
  await rm(join(settings.directory, "ca.key"));
  await expect(loadServerTls(settings, silentLogger)).rejects.toMatchObject({ code: "certificate" });
});

test("processes that start at once end up with one authority that signed the leaf", async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => loadServerTls(settings, silentLogger)));
  const authority = new X509Certificate(await readFile(join(settings.directory, "ca.pem")));
  for (const { options } of all)
    expect(new X509Certificate(String(options.cert)).verify(authority.publicKey)).toBe(true);
});

test("a certificate of one's own is used as it is; a wrong pair is explained", async () => {
  const certificateFile = join(root, "own.pem");
  const keyFile = join(root, "own.key");
  const selfSigned = [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-subj",
    "/CN=own",
    "-addext",
    "subjectAltName=DNS:own.example.org",
  ];
  await openssl(...selfSigned, "-days", "5", "-keyout", keyFile, "-out", certificateFile);
  settings = { ...settings, certificateFile, keyFile };
  expect((await loadServerTls(settings, silentLogger)).caFile).toBeNull();
  await withServer(async (port) => {
    const { ok, talk } = await handshake(
      port,
      "-CAfile",
      certificateFile,
      "-verify_return_error",
      "-verify_hostname",
      "own.example.org",
    );
    expect(ok, talk).toBe(true);
  });
  await expect(readdir(settings.directory)).rejects.toMatchObject({ code: "ENOENT" });

  await openssl("genpkey", "-algorithm", "ed25519", "-out", keyFile);
  const wrong = (change: Partial<TlsSettings>): Promise<unknown> =>
    loadServerTls({ ...settings, ...change }, silentLogger);
  await expect(wrong({})).rejects.toMatchObject({
    code: "certificate",
    message: expect.stringContaining("does not belong to"),
  });
  await expect(wrong({ keyFile: undefined })).rejects.toMatchObject({ code: "invalid_setting" });
  await expect(wrong({ certificateFile: join(root, "none.pem") })).rejects.toMatchObject({
    code: "certificate",
  });
  await expect(wrong({ keyFile: join(root, "own.pem") })).rejects.toMatchObject({ code: "certificate" });
});
