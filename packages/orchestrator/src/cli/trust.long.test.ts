import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { TestServer } from "../../test/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.create();
  await server.serve();
});
afterAll(() => server.remove());

/**
 * `attestore-server trust` and other programs on a machine of their own: what they do to the trust
 * store stays there.
 */
async function onOwnMachine(script: string, user = "root"): Promise<{ code: number; out: string }> {
  const rights = process.getuid?.() === 0 ? ["-m"] : ["-r", "-m"];
  const stores = [
    "mount -t tmpfs none /usr/local/share/ca-certificates",
    "mount -t tmpfs none /etc/ssl/certs",
    // With one public authority, because all of them take most of the time.
    "grep -m 1 '^mozilla/' /etc/ca-certificates.conf >/etc/ssl/certs/one; mount --bind /etc/ssl/certs/one /etc/ca-certificates.conf",
    `trust() { "${process.execPath}" "${inject("service")}" trust "$@"; }`,
    `get() { curl -sS -o /dev/null --resolve localhost:${server.port}:127.0.0.1 https://localhost:${server.port}/healthz; }`,
  ];
  const asUser = user === "root" ? [] : ["unshare", "-U", "--map-user=1234"];
  const command = [
    ...asUser,
    "bash",
    "-euc",
    [...(user === "root" ? stores : stores.slice(3)), script].join("\n"),
  ];
  const child = spawn("unshare", [...rights, ...command], {
    env: { PATH: process.env["PATH"], ATTESTORE_DATA: server.data },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, [code]] = await Promise.all([
    readText(child.stdout).then(async (text) => text + (await readText(child.stderr))),
    once(child, "close") as Promise<[number]>,
  ]);
  return { code, out };
}

describe("the service's own certificate authority", () => {
  test("is trusted by the machine's programs on request, and no longer after --undo", async () => {
    const { code, out } = await onOwnMachine(`
      trust --undo --json; trust --json; get && echo reached
      trust --json; trust --undo; get || echo "refused $?"; find /usr/local/share/ca-certificates /etc/ssl/certs -name '*attestore*'`);
    expect(code, out).toBe(0);
    const { fingerprint256 } = new X509Certificate(await readFile(join(server.data, "tls", "ca.pem")));
    expect(out.match(/"changed": \w+/g)).toEqual(['"changed": false', '"changed": true', '"changed": false']);
    expect(out).toContain(`"ca_sha256": "${fingerprint256}"`);
    expect(out).toMatch(/reached\n[^]*refused 60\n/);
    expect(out).toContain("no longer trusts the service's authority");
    expect(out).not.toMatch(/^\/.*attestore/m);
  });

  test("is not installed without root, or if it is something else, and the message says what to do", async () => {
    const refused = await onOwnMachine("trust", "nobody");
    expect(refused.code).toBe(2);
    expect(refused.out).toContain(`sudo ATTESTORE_DATA=${server.data} ${process.execPath} `);
    const other = await onOwnMachine(`
      ls /usr/local/share/ca-certificates
      export ATTESTORE_DATA=$(mktemp -d); mkdir $ATTESTORE_DATA/tls; trap 'rm -r $ATTESTORE_DATA' EXIT
      trust || echo "ended $?"
      head -c 100 /etc/passwd >$ATTESTORE_DATA/tls/ca.pem; trust || echo "ended $?"
      rm $ATTESTORE_DATA/tls/ca.pem; mkfifo $ATTESTORE_DATA/tls/ca.pem; trust || echo "ended $?"
      ls /usr/local/share/ca-certificates`);
    expect(other.out.match(/ended 2/g)).toHaveLength(3);
    expect(other.out).toContain("the service makes it on its first start");
    expect(other.out).toContain("is not the certificate of a certificate authority");
    expect(other.out).not.toMatch(/root:|\.crt/);
  });
});
