import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../platform/logging/logger.ts";
import { loadServerTls } from "../platform/tls/server-tls.ts";
import { TestServer } from "../../test/test-server.ts";

let server: TestServer;
let scratch: string;
beforeAll(async () => {
  server = await TestServer.create();
  scratch = await mkdtemp(join(tmpdir(), "attestore-certificates-"));
});
afterAll(async () => {
  await server.remove();
  await rm(scratch, { recursive: true });
});

/** A key and a certificate in one file. */
async function makeCertificate(name: string): Promise<string> {
  const directory = join(scratch, name);
  await loadServerTls({ directory, hostnames: [] }, silentLogger);
  return join(directory, "server.pem");
}

async function servedFingerprint(): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: server.port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

test("a replaced certificate is served after SIGHUP, and open connections stay", async () => {
  const file = join(scratch, "served.pem");
  await copyFile(await makeCertificate("first"), file);
  const { process: service } = await server.serve({ ATTESTORE_TLS_CERT: file, ATTESTORE_TLS_KEY: file });
  const before = await servedFingerprint();
  const open = connect({ host: "127.0.0.1", port: server.port, rejectUnauthorized: false });
  await once(open, "secureConnect");

  await copyFile(await makeCertificate("second"), file);
  service.kill("SIGHUP");
  await expect.poll(servedFingerprint).not.toBe(before);

  open.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const [answer] = (await once(open, "data")) as [Buffer];
  expect(answer.toString()).toContain("200 OK");
  open.destroy();
});
