import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type Server } from "./harness/server.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

/** What openssl, as another implementation than Node's callers, makes of a handshake. */
async function handshake(...options: string[]): Promise<{ code: number | null; talk: string }> {
  const address = ["-connect", `127.0.0.1:${server.port}`, "-servername", "localhost"];
  const child = spawn("openssl", ["s_client", ...address, ...options], { stdio: ["pipe", "pipe", "pipe"] });
  let talk = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (talk += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (talk += text));
  child.stdin.end();
  const [code] = (await once(child, "close")) as [number | null];
  return { code, talk };
}

describe("TLS", () => {
  it.each(["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"])(
    "1.3 with %s is accepted",
    async (suite) => {
      const { code, talk } = await handshake("-tls1_3", "-ciphersuites", suite);
      expect(code, talk).toBe(0);
      expect(talk).toContain(`New, TLSv1.3, Cipher is ${suite}`);
    },
  );

  it.each(["TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256"])("1.3 with %s is refused", async (suite) => {
    const { code, talk } = await handshake("-tls1_3", "-ciphersuites", suite);
    expect(code).not.toBe(0);
    expect(talk).toContain("handshake failure");
  });

  it.each(["-tls1_2", "-tls1_1", "-tls1"])("%s is refused", async (version) => {
    const { code, talk } = await handshake(version, "-cipher", "ALL:@SECLEVEL=0");
    expect(code).not.toBe(0);
    expect(talk).toMatch(/protocol version|alert/);
    expect(talk).toContain("Cipher is (NONE)");
  });

  it.each(["localhost", "127.0.0.1"])("shows a certificate of the service's own CA for %s", async (name) => {
    const verify = name === "localhost" ? ["-verify_hostname", name] : ["-verify_ip", name];
    const { code, talk } = await handshake("-CAfile", server.caFile, "-verify_return_error", ...verify);
    expect(code, talk).toBe(0);
    expect(talk).toContain("Verify return code: 0 (ok)");
  });

  it("shows a certificate that no other CA vouches for", async () => {
    const { code } = await handshake("-verify_return_error", "-verify_hostname", "localhost");
    expect(code).not.toBe(0);
  });

  it("is the only way to connect", async () => {
    const plain = await new Promise<string>((resolve) => {
      get({ host: "127.0.0.1", port: server.port, path: "/v1/log/head" }, (answer) => {
        answer.resume();
        resolve(String(answer.statusCode));
      }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    expect(plain).not.toMatch(/^[23]\d\d$/);
  });

  it("keeps its CA across restarts", async () => {
    await server.stop();
    await server.start();
    const { code, talk } = await handshake(
      "-CAfile",
      server.caFile,
      "-verify_return_error",
      "-verify_hostname",
      "localhost",
    );
    expect(code, talk).toBe(0);
    const checked = server.ca;
    expect(checked).toContain("BEGIN CERTIFICATE");
  });
});
