import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "./free-port.ts";
import { runCli } from "./service/cli.ts";

let base: string;
/** Nothing listens on it. */
let port: number;
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-unreachable-"));
  port = await freePort();
});
afterAll(() => rmSync(base, { recursive: true }));

async function init(service: string, env: Record<string, string> = {}): Promise<string> {
  const { code, stderr } = await runCli(["init", "--service", service], {
    env: {
      ATTESTORE_HOME: join(base, "root"),
      ATTESTORE_AUTH_KEY: `atk_${"0".repeat(10)}_${"A".repeat(32)}`,
      ...env,
    },
  });
  expect(code, stderr).toBe(2);
  return stderr;
}

it("a service that cannot be reached is named with the reason and what to look at", async () => {
  expect(await init(`https://127.0.0.1:${port}`)).toContain(
    `127.0.0.1:${port} can't be reached (connect ECONNREFUSED 127.0.0.1:${port}): nothing listens there: does it run, and is the port right?`,
  );
  expect(await init("https://nowhere.invalid:8443")).toMatch(
    /nowhere\.invalid:8443 can't be reached \(getaddrinfo E\w+ nowhere\.invalid\): .*DNS/,
  );
});

it("a proxy that cannot be reached is named as the proxy", async () => {
  expect(
    await init("https://192.0.2.1:8443", { HTTPS_PROXY: `http://me:hunter2@127.0.0.1:${port}` }),
  ).toMatch(
    new RegExp(
      `192\\.0\\.2\\.1:8443 can't be reached through the proxy 127\\.0\\.0\\.1:${port} \\(connect ECONNREFUSED`,
    ),
  );
  const named = await init("https://192.0.2.1:8443", { HTTPS_PROXY: "proxy.invalid:3128" });
  expect(named).toContain(
    "192.0.2.1:8443 can't be reached through the proxy proxy.invalid:3128 (getaddrinfo",
  );
  expect(named).not.toContain("hunter2");
});
