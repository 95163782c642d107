import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attachedHost, type Host } from "./harness/host.ts";
import { api } from "./harness/https.ts";
import { createAuthKey } from "./harness/organisation.ts";
import type { Finished } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";

/** docs/keys.md, "A stolen key or token": its agent is revoked, and the host attached anew. */

let server: Server;
let owner: { token: string; orgId: string };
let host: Host;

beforeAll(async () => {
  server = await startServer();
  owner = await signUp([server]);
  host = await attachedHost({
    server,
    id: owner.orgId,
    authKey: await createAuthKey(server, owner.orgId),
  });
  mkdirSync(join(host.base, "papers"));
  writeFileSync(join(host.base, "papers/letter"), "dear reader");
  declare();
});
afterAll(async () => {
  host.remove();
  await server.remove();
});

const declare = (): void =>
  host.addSources(`  papers: { engine: files, path: ${join(host.base, "papers")} }\n`);
const agentId = (): string =>
  /id: (agent_\w+)/.exec(readFileSync(join(host.root, "config.yaml"), "utf8"))?.[1] ?? "";

async function must(...args: string[]): Promise<Finished> {
  const finished = await host.run(...args);
  expect(finished.code, `${args.join(" ")}\n${finished.stdout}${finished.stderr}`).toBe(0);
  return finished;
}

/** Answers the fingerprint of the new agent's key. */
async function attach(): Promise<{ fingerprint: string; said: string }> {
  host.env["ATTESTORE_AUTH_KEY"] = await createAuthKey(server, owner.orgId);
  const { stdout, stderr } = await must("init", "--service", server.url, "--ca-file", server.caFile);
  return { fingerprint: /key (SHA256:\S+)/.exec(stdout)?.[1] ?? "", said: stderr };
}

async function handOver(): Promise<void> {
  const path = `/api/orgs/${owner.orgId}/sources`;
  const listed = await api(server, { method: "GET", path, token: owner.token });
  const id = listed.json<{ items: { id: string }[] }>().items[0]?.id;
  const json = { agent_id: agentId() };
  const call = { method: "POST", path: `${path}/${id}/configure`, token: owner.token, json };
  expect((await api(server, call)).status).toBe(200);
}

it("a host that is attached anew has another key, and restores what the old agent backed up", async () => {
  const made = JSON.parse((await must("backup", "--source", "papers", "--json")).stdout) as {
    backup_id: string;
  };
  const stolen = /SHA256:[^)\s]+/.exec((await must("keys", "export")).stdout)?.[0] ?? "";
  expect((await server.cli("agent", "revoke", agentId())).code).toBe(0);
  expect((await host.run("backup", "--source", "papers")).stderr).toContain("agent_revoked");

  // Without its configuration alone, the root still has the key.
  renameSync(join(host.root, "config.yaml"), join(host.base, "old-config.yaml"));
  const again = await attach();
  expect(again.fingerprint).toBe(stolen);
  expect(again.said).toContain("the key that was in the root already");
  expect((await server.cli("agent", "revoke", agentId())).code).toBe(0);

  renameSync(host.root, join(host.base, "revoked"));
  const anew = await attach();
  expect(anew.fingerprint).not.toBe(stolen);
  expect(anew.said).not.toContain("already");
  declare();
  await handOver();
  const config = join(host.root, "config.yaml");
  const trust = `test_for:\n  papers:\n    keys: ["${stolen}"]\n`;
  writeFileSync(config, `${readFileSync(config, "utf8")}${trust}`);
  const identity = ["--identity", join(host.base, "revoked/keys/age.key")];
  const restore = ["restore", "--source", "papers", "--backup", made.backup_id];
  await must(...restore, ...identity, "--output", join(host.base, "papers.tar"));
  await must("backup", "--source", "papers");
  await must("restore-test", "--source", "papers");
});
