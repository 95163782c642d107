import { cpSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attachedHost, type Host } from "./harness/host.ts";
import { createOrganisation } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";

/** Somebody puts a copy of the keys back that is older than the last rotation. */

let server: Server;
let host: Host;

beforeAll(async () => {
  server = await startServer();
  host = await attachedHost(await createOrganisation(server));
  mkdirSync(join(host.base, "papers"));
  host.addSources(`  papers: { engine: files, path: ${join(host.base, "papers")} }\n`);
});
afterAll(async () => {
  host.remove();
  await server.remove();
});

it("a restore with keys from before a rotation says so, and blames no other agent", async () => {
  cpSync(join(host.root, "keys"), join(host.base, "old-keys"), { recursive: true });
  const rotated = await host.run("keys", "rotate", "signing", "--yes");
  expect(rotated.code, rotated.stderr).toBe(0);
  const made = await host.run("backup", "--source", "papers", "--json");
  expect(made.code, made.stderr).toBe(0);
  const { backup_id: id } = JSON.parse(made.stdout) as { backup_id: string };
  for (const name of ["keys", "receipts"]) renameSync(join(host.root, name), join(host.base, `new-${name}`));
  renameSync(join(host.base, "old-keys"), join(host.root, "keys"));

  const restore = ["restore", "--source", "papers", "--backup", id, "--output", join(host.base, "dump")];
  const { code, stdout, stderr } = await host.run(...restore, "--json");
  expect([code, stderr]).toEqual([2, expect.stringContaining("before a rotation")]);
  expect(JSON.parse(stdout)).toMatchObject({ error: "maker_not_trusted" });
  expect(stderr).not.toContain("another agent");

  // The newest copy needs no receipts.
  renameSync(join(host.root, "keys"), join(host.base, "older-keys"));
  renameSync(join(host.base, "new-keys"), join(host.root, "keys"));
  const again = await host.run(...restore);
  expect(again.code, again.stderr).toBe(0);
});
