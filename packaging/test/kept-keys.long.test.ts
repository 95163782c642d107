import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  createAuthKey,
  createOrganisation,
  type Organisation,
} from "../../tests/e2e/harness/organisation.ts";
import { startServer, type Server } from "../../tests/e2e/harness/server.ts";
import { releaseHere } from "./release-here.ts";
import { bootThrowawaySystem, type ThrowawaySystem } from "./throwaway-system.ts";

/** docs/keys.md on a host with the package: its commands as they are written. */

const release = await releaseHere();
const page = readFileSync(join(import.meta.dirname, "../../docs/keys.md"), "utf8");

let server: Server;
let org: Organisation;
let system: ThrowawaySystem;

const must = (script: string): string => system.must("sh", "-ec", script);
const fingerprint = (): string => /SHA256:[^)\s]+/.exec(must("cd /; attestore keys export"))?.[0] ?? "";
const install = (): string => must(`dpkg -i /root/attestore_${release.version}_amd64.deb`);

function block(words: string): string {
  const found = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, text = ""]) => text)
    .filter((text) => text.includes(words));
  expect(found, words).toHaveLength(1);
  return (found[0] ?? "").replace(/--service \S+/, INIT());
}

const INIT = (): string => `--service ${server.url} --ca-file /srv/ca.pem`;

beforeAll(async () => {
  server = await startServer();
  org = await createOrganisation(server);
  system = await bootThrowawaySystem();
  const file = `attestore_${release.version}_amd64.deb`;
  copyFileSync(join(release.out, file), join(system.root, "root", file));
  copyFileSync(server.caFile, join(system.root, "srv/ca.pem"));
  install();
  must(`chmod 644 /srv/ca.pem; mkdir /srv/papers; echo hello >/srv/papers/letter
    ATTESTORE_AUTH_KEY=${org.authKey} attestore init ${INIT()} --name first
    attestore source add papers --engine files --path /srv/papers --yes`);
});
afterAll(async () => {
  await system.stop();
  await server.remove();
});

it("a new host goes on as the same agent with copies of the keys, put back as the page says", () => {
  const before = fingerprint();
  const made = JSON.parse(must("attestore backup --source papers --json")) as { backup_id: string };
  must(`mkdir /root/copy; cd /root/copy
    cp -r /var/lib/attestore/keys /var/lib/attestore/config.yaml .; cp -r /var/lib/attestore-signer signer
    cd /; apt-get purge -y -qq attestore </dev/null; rm -r /var/lib/attestore /var/lib/attestore-signer`);
  install();
  must(`cd /root/copy\n${block("cp -r signer/.")}
    attestore restore --source papers --backup ${made.backup_id} --output /root/papers.tar`);
  // The agent worked in its own root, and not in the directory of the copies.
  expect(must("ls /root/copy")).toBe("config.yaml\nkeys\nsigner\n");
  expect(fingerprint()).toBe(before);
  expect(must("tar -xOf /root/papers.tar ./letter")).toBe("hello\n");
  expect(must("systemctl is-active attestore").trim()).toBe("active");
});

it("a host is attached anew with another signing key, and the old keys stay beside it", async () => {
  const stolen = fingerprint();
  const key = await createAuthKey(server, org.id);
  must(`export ATTESTORE_AUTH_KEY=${key}\n${block("attestore.revoked\n")}`);
  expect(fingerprint()).not.toBe(stolen);
  must(`test -s /var/lib/attestore-signer.revoked/agent.key
    attestore source add others --engine files --path /srv/papers --yes
    systemctl start attestore; attestore backup --source others; attestore restore-test --source others`);
});
