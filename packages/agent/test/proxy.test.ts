import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";
import { startProxy, type Proxy } from "./service/proxy.ts";
import { TestService } from "./service/test-service.ts";

let service: TestService;
let proxy: Proxy;
let base: string;
let through: Record<string, string>;

beforeAll(async () => {
  [service, proxy] = await Promise.all([TestService.start(), startProxy()]);
});
afterAll(async () => {
  await service.stop();
  await proxy.stop();
});
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-behind-"));
  through = { ATTESTORE_HOME: join(base, "root"), HTTPS_PROXY: proxy.url, NO_PROXY: "example.com" };
  return () => rmSync(base, { recursive: true });
});

const fingerprint = (): string => new X509Certificate(service.certificates.ca).fingerprint256;

function init(env: Record<string, string>): Promise<Finished> {
  const args = ["init", "--service", service.url, "--ca-sha256", fingerprint()];
  return runCli(args, { env: { ATTESTORE_AUTH_KEY: service.authKey, ...env } });
}

it("everything goes through HTTPS_PROXY: pinning, attaching, uploads, receipts, downloads", async () => {
  const attached = await init(through);
  expect(attached.code, attached.stderr).toBe(0);
  // The certificate that is looked at is the service's, whatever carries it.
  expect(readFileSync(join(base, "root/keys/ca.pem"), "utf8")).toContain("BEGIN CERTIFICATE");
  const seen = proxy.connected().length;
  expect(seen).toBeGreaterThanOrEqual(2);

  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  const config = join(base, "root/config.yaml");
  writeFileSync(
    config,
    `${readFileSync(config, "utf8")}sources: { papers: { engine: files, path: ${join(base, "papers")} } }\n`,
  );
  // As the unit has it: the file env of the root.
  writeFileSync(join(base, "root/env"), `HTTPS_PROXY=${proxy.url}\n`, { mode: 0o600 });
  const env = { ATTESTORE_HOME: join(base, "root") };
  for (const args of [["backup"], ["restore-test"], ["doctor"]]) {
    const before = proxy.connected().length;
    const done = await runCli(args, { env });
    expect(done.code, `${args.join(" ")}\n${done.stdout}${done.stderr}`).toBe(0);
    expect(done.stdout + done.stderr).not.toContain("hunter2");
    expect(proxy.connected().length, args.join(" ")).toBeGreaterThan(before);
  }
  expect(new Set(proxy.connected())).toEqual(new Set([`localhost:${service.port}`]));
});

it("hosts named in NO_PROXY are reached without the proxy", async () => {
  const before = proxy.connected().length;
  const done = await init({ ...through, NO_PROXY: "example.com,localhost" });
  expect(done.code, done.stderr).toBe(0);
  expect(proxy.connected()).toHaveLength(before);
});

it.each([
  ["that refuses", () => proxy.url.replace("hunter2", "wrong-word"), "through the proxy"],
  ["that is not there", () => "http://127.0.0.1:1", "ECONNREFUSED 127.0.0.1:1"],
  ["that is none", () => "socks5://user:wrong-word@127.0.0.1:1", "HTTPS_PROXY is not an http"],
])("a proxy %s is reported, and not bypassed", async (_, url, message) => {
  const calls = service.calls.length;
  const done = await init({ ...through, HTTPS_PROXY: url() });
  expect(done.code).toBe(2);
  expect(done.stderr).toContain(message);
  expect(done.stderr).not.toContain("wrong-word");
  expect(service.calls).toHaveLength(calls);
});
