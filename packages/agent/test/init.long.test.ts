import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseConfig } from "../src/config/config.ts";
import { runCli, startCli, type Finished } from "./service/cli.ts";
import { failure, TestService } from "./service/test-service.ts";

let service: TestService;
let base: string;
let root: string;

beforeEach(async () => {
  service = await TestService.start();
  base = mkdtempSync(join(tmpdir(), "attestore-init-"));
  root = join(base, "root");
  writeFileSync(join(base, "ca.pem"), service.certificates.ca);
});
afterEach(async () => {
  await service.stop();
  rmSync(base, { recursive: true });
});

const args = (...more: string[]): string[] => [
  "init",
  "--root",
  root,
  "--service",
  service.url,
  "--ca-file",
  join(base, "ca.pem"),
  ...more,
];
const withKey = () => ({ env: { ATTESTORE_AUTH_KEY: service.authKey } });
const at = (...path: string[]): string => join(root, ...path);

function expectAttached({ code, stdout, stderr }: Finished): void {
  expect(code, stdout + stderr).toBe(0);
  const config = parseConfig(readFileSync(at("config.yaml"), "utf8"), "config.yaml", root);
  expect(config.agent).toMatchObject({ id: service.agentId, orgId: service.orgId });
  expect(config.service?.caFile).toBe(at("keys/ca.pem"));
  expect(readFileSync(at("keys/token"), "utf8").trim()).toBe(service.token);
  expect(readFileSync(at("keys/log.vkey"), "utf8").trim()).toBe(service.log.verifierKey);
  for (const name of ["token", "agent.key"]) expect(statSync(at("keys", name)).mode & 0o777).toBe(0o600);
  expect(existsSync(at("keys/attach.pending.json"))).toBe(false);
  // No secret stays in the terminal's scroll-back.
  for (const secret of [service.token, service.authKey, readFileSync(at("keys/agent.key"), "utf8")])
    expect(stdout + stderr).not.toContain(secret);
}

it("attaches with an auth key from the environment, once", async () => {
  const done = await runCli(args("--json", "--name", "db-1"), withKey());
  expectAttached(done);
  const told = JSON.parse(done.stdout) as Record<string, unknown>;
  expect(told).toMatchObject({ agent_id: service.agentId, root });
  const attach = JSON.parse(service.calls[0]?.body ?? "") as { name: string; agent_version: string };
  expect(attach).toMatchObject({ name: "db-1", agent_version: "0.1.0" });

  const again = await runCli(args("--json"), withKey());
  expect(again.code).toBe(2);
  expect(JSON.parse(again.stdout)).toMatchObject({ error: "already_attached" });
  expect(service.calls).toHaveLength(1);
});

it("init reads the auth key from a file or stdin", async () => {
  const file = join(base, "key");
  writeFileSync(file, `${service.authKey}\n`);
  expectAttached(await runCli(args("--auth-key-file", file)));
  root = join(base, "other");
  expectAttached(await runCli(args("--auth-key-file", "-"), { stdin: `${service.authKey}\n` }));
});

it("init pins the certificate with a given fingerprint", async () => {
  const der = Buffer.from(service.certificates.ca.replace(/-----.*-----/g, ""), "base64");
  const fingerprint = createHash("sha256").update(der).digest("hex");
  const pin = (sha256: string) =>
    runCli(["init", "--root", root, "--service", service.url, "--ca-sha256", sha256], withKey());
  const wrong = await pin("00".repeat(32));
  expect(wrong.code).toBe(2);
  expect(service.calls).toEqual([]);
  expectAttached(await pin(fingerprint.toUpperCase()));
});

it("init names the fault of its arguments", async () => {
  const cases: [string[], Record<string, string>, RegExp][] = [
    [["init", "--root", root], {}, /which service/],
    [["init", "--root", root, "--service", "http://x"], {}, /https:/],
    [args("--ca-sha256", "00"), {}, /not both/],
    [args("--recipient", "age1nonsense"), {}, /--recipient takes age1/],
    [args(), { ATTESTORE_AUTH_KEY: "hunter2" }, /^(?!.*hunter2).*not an auth key/s],
    [args(), { ATTESTORE_AUTH_KEY: `atk_0123456789_${"A".repeat(32)}` }, /rejected this auth key/],
    [
      ["init", "--root", root, "--service", service.url],
      withKey().env,
      /^(?!.*Node\.js)attestore init: the certificate of .* is not trusted \(.*\)\. Something in between may answer for it, such as a proxy that opens TLS/,
    ],
    [["init", "--root", "/proc/none", "--service", service.url], withKey().env, /can't be created/],
    [args("--auth-key-file", join(base, "none")), {}, /can't be read/],
  ];
  for (const [argv, env, message] of cases) {
    const { code, stderr } = await runCli(argv, { env });
    expect(code, argv.join(" ")).toBe(2);
    expect(stderr).toMatch(message);
  }
  expectAttached(await runCli(args(), withKey()));
});

it("init encrypts to given recipients, and then makes no identity", async () => {
  const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
  expectAttached(await runCli(args("--recipient", recipient), withKey()));
  const config = parseConfig(readFileSync(at("config.yaml"), "utf8"), "", root);
  expect(config.recipients).toEqual([recipient]);
  expect(config.identityFiles).toEqual([]);
  expect(existsSync(at("keys/age.key"))).toBe(false);
});

it("init keeps what somebody has already written into config.yaml", async () => {
  await runCli(["init", "--root", root]);
  writeFileSync(
    at("config.yaml"),
    `# mine\nservice: { url: "${service.url}", ca_file: ${join(base, "ca.pem")} }\nsources:\n  # the shop\n  shop: { engine: files, path: /srv/shop }\n`,
  );
  expectAttached(await runCli(["init", "--root", root], withKey()));
  const text = readFileSync(at("config.yaml"), "utf8");
  expect(text).toContain("# mine");
  expect(text).toContain("# the shop");
  expect(parseConfig(text, "", root).sources.get("shop")).toMatchObject({ path: "/srv/shop" });
});

it("init lets the dashboard add sources only with the flag on the command line", async () => {
  const allowed = () => /^allow_remote_config: .*$/m.exec(readFileSync(at("config.yaml"), "utf8"))?.[0];
  expectAttached(await runCli(args(), withKey()));
  expect(allowed()).toBeUndefined();
  rmSync(root, { recursive: true });
  const told = await runCli(args("--allow-remote-config"), withKey());
  expectAttached(told);
  expect(allowed()).toBe("allow_remote_config: true");
  expect(told.stdout).toContain("attestore remote-config off ends it");
  const standalone = ["init", "--standalone", "--allow-remote-config", "--root", join(base, "alone")];
  expect(await runCli(standalone)).toMatchObject({ code: 2 });
});

it("attaches interactively: shows code, page and key, and waits for the approval", async () => {
  const cli = startCli(args());
  await cli.said("Waiting for approval");
  service.approved = "approved";
  const done = await cli.finished;
  expectAttached(done);
  expect(done.stderr).toContain("ABCD-2345");
  expect(done.stderr).toContain(`${service.url}/attach/ABCD-2345`);
  expect(done.stderr).toMatch(/must be {2}SHA256:[A-Za-z0-9+/]{43}\n/);
});

it("init says that an interactive attach was denied, and starts afresh after that", async () => {
  service.approved = "denied";
  const denied = await runCli(args());
  expect(denied.code).toBe(2);
  expect(denied.stderr).toContain("was denied");
  expect(existsSync(at("config.yaml"))).toBe(false);
  service.approved = "approved";
  expectAttached(await runCli(args()));
  expect(service.calls.filter(({ route }) => route === "POST /api/bootstrap/start")).toHaveLength(2);
});

it("init stops with 130 while it waits for an approval, and takes the same attach up again", async () => {
  const cli = startCli(args());
  await cli.said("Waiting for approval");
  cli.process.kill("SIGINT");
  expect((await cli.finished).code).toBe(130);
  service.approved = "approved";
  expectAttached(await runCli(args()));
  expect(service.calls.filter(({ route }) => route === "POST /api/bootstrap/start")).toHaveLength(1);
});

it("init gets the same agent when it is killed after the service has made one", async () => {
  const killed: ReturnType<typeof startCli>[] = [];
  service.interfere = () => {
    killed[0]?.process.kill("SIGKILL");
    return "cut-after";
  };
  killed.push(startCli(args(), withKey()));
  expect((await killed[0]?.finished)?.code).toBe("SIGKILL");
  service.interfere = () => undefined;
  expectAttached(await runCli(args(), withKey()));
  const keys = service.calls.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`);
  expect(new Set(keys).size).toBe(1);
  expect(keys.length).toBeGreaterThan(1);
});

it.each(["agent.key", "agent.pub", "age.key", "attach.pending.json", "token", "log.vkey"])(
  "init can be repeated after kill -9 when keys/%s appears",
  async (name) => {
    await runCli(["init", "--root", root]);
    const cli = startCli(args(), withKey());
    const watcher = watch(at("keys"), (_event, touched) => {
      if (touched === name) cli.process.kill("SIGKILL");
    });
    await cli.finished;
    watcher.close();
    if (!existsSync(at("config.yaml"))) expectAttached(await runCli(args(), withKey()));
    const again = await runCli(args(), withKey());
    expect(again.stderr).toContain("already attached");
    const keys = service.calls.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`);
    expect(new Set(keys).size).toBe(1);
  },
);

it("init says when the service can't be reached, and when somebody else works in the root", async () => {
  service.interfere = () => ({
    ...failure(429, "rate_limited", "slowly"),
    headers: { "retry-after": "900" },
  });
  const refused = await runCli(args("--json"), withKey());
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: "refused" });
  service.interfere = () => undefined;
  const first = startCli(args());
  await first.said("Waiting for approval");
  const second = await runCli(args("--json"), withKey());
  expect(JSON.parse(second.stdout)).toMatchObject({ error: "locked" });
  first.process.kill("SIGTERM");
  expect((await first.finished).code).toBe(130);
});
