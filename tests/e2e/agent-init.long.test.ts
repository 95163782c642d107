import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newHost } from "./harness/host.ts";
import { createOrganisation, type Organisation } from "./harness/organisation.ts";
import { run, start } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

/** How `attestore init` finds the service, and what it says when it does not. */

let server: Server;
let org: Organisation;

beforeAll(async () => {
  server = await startServer({ ATTESTORE_HEARTBEAT_INTERVAL_S: "3600" });
  org = await createOrganisation(server);
});
afterAll(() => server.remove());

it.each<[string, () => string[], RegExp]>([
  ["a key that is wrong", () => [server.url, server.caFile], /auth key/i],
  ["a service that is not there", () => ["https://localhost:9", server.caFile], /localhost:9/],
  ["a CA that is not the service's", () => [server.url, "/etc/ssl/certs/ISRG_Root_X1.pem"], /certificate|CA/],
  ["a CA that it was not given", () => [server.url, ""], /--ca-file/],
  ["a CA file that is not there", () => [server.url, "/nowhere/ca.pem"], /\/nowhere\/ca\.pem/],
  ["a service without TLS", () => [server.url.replace("https", "http"), server.caFile], /https/i],
])("says what is wrong with %s, and can be run again", async (what, service, message) => {
  const fresh = newHost();
  try {
    const [url = "", ca = ""] = service();
    const wrong = `${org.authKey.slice(0, 15)}${"A".repeat(32)}`;
    const key = what.startsWith("a key") ? wrong : org.authKey;
    const env = { ...fresh.env, ATTESTORE_AUTH_KEY: key };
    const authority = ca === "" ? [] : ["--ca-file", ca];
    const failed = await run("attestore", ["init", "--service", url, ...authority, "--name", "x"], env);
    expect(failed.code, failed.stdout + failed.stderr).toBe(2);
    expect(failed.stderr).toMatch(message);
    expect(failed.stderr).not.toMatch(/\n\s+at .+:\d+/);
    expect(failed.stdout + failed.stderr).not.toContain(key);
    const right = { ...fresh.env, ATTESTORE_AUTH_KEY: org.authKey };
    const args = ["init", "--service", server.url, "--ca-file", server.caFile, "--name", "x"];
    const repaired = await run("attestore", args, right);
    expect(repaired.code, repaired.stderr).toBe(0);
  } finally {
    fresh.remove();
  }
});

it("accepts the fingerprint of the service's own CA instead of its file", async () => {
  const fresh = newHost();
  const { fingerprint256 } = new X509Certificate(readFileSync(server.caFile));
  try {
    const env = { ...fresh.env, ATTESTORE_AUTH_KEY: org.authKey };
    const args = ["init", "--service", server.url, "--ca-sha256", fingerprint256, "--name", "by-hash"];
    const attached = await run("attestore", args, env);
    expect(attached.code, attached.stdout + attached.stderr).toBe(0);
    const pinned = new X509Certificate(readFileSync(join(fresh.root, "keys", "ca.pem")));
    expect(pinned.fingerprint256).toBe(fingerprint256);
  } finally {
    fresh.remove();
  }
});

it("without an auth key waits for a person, and shows the fingerprint to compare", async () => {
  const fresh = newHost();
  const waiting = start(
    "attestore",
    ["init", "--service", server.url, "--ca-file", server.caFile, "--name", "typed"],
    fresh.env,
  );
  try {
    const [code] = await until("init prints its code", () =>
      /\b[A-Z2-9]{4}-[A-Z2-9]{4}\b/.exec(waiting.talk()),
    );
    await until("init prints its fingerprint", () => /SHA256:[A-Za-z0-9+/]{43}/.exec(waiting.talk()));
    const approved = await server.cli("bootstrap", "approve", code, "--org", org.id);
    expect(approved.code, approved.stderr).toBe(0);
    const done = await waiting.finished;
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(done.stdout + done.stderr).not.toMatch(/at[sp]_[A-Za-z0-9_-]{20}/);
    const doctor = await fresh.run("doctor");
    expect(doctor.code, doctor.stdout + doctor.stderr).toBe(0);
  } finally {
    waiting.child.kill("SIGKILL");
    fresh.remove();
  }
});

it("says that a person denied the request", async () => {
  const fresh = newHost();
  const args = ["init", "--service", server.url, "--ca-file", server.caFile, "--name", "denied"];
  const waiting = start("attestore", args, fresh.env);
  try {
    const [code] = await until("init prints its code", () =>
      /\b[A-Z2-9]{4}-[A-Z2-9]{4}\b/.exec(waiting.talk()),
    );
    expect((await server.cli("bootstrap", "deny", code, "--org", org.id)).code).toBe(0);
    const done = await waiting.finished;
    expect(done.code).toBe(2);
    expect(done.stderr).toMatch(/denied/i);
  } finally {
    waiting.child.kill("SIGKILL");
    fresh.remove();
  }
});
