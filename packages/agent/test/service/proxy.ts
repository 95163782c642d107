import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../../../tests/e2e/harness/free-port.ts";

export interface Proxy {
  /** With the password. */
  readonly url: string;
  readonly host: string;
  /** Where it has connected somebody to, in order. */
  connected(): string[];
  stop(): Promise<void>;
}

/** A real proxy, tinyproxy, which asks for a password. */
export async function startProxy(): Promise<Proxy> {
  const directory = mkdtempSync(join(tmpdir(), "attestore-proxy-"));
  const port = await freePort();
  const log = join(directory, "log");
  writeFileSync(
    join(directory, "conf"),
    `Port ${port}\nListen 127.0.0.1\nAllow 127.0.0.1\nBasicAuth user hunter2\nLogLevel Connect\nLogFile "${log}"\n`,
  );
  const child = spawn("tinyproxy", ["-d", "-c", join(directory, "conf")], { stdio: "ignore" });
  const ended = once(child, "exit");
  for (;;) {
    if (child.exitCode !== null) throw new Error("tinyproxy ended");
    if (await accepts(port)) break;
    await pause(20);
  }
  return {
    url: `http://user:hunter2@127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    connected: () =>
      [...readFileSync(log, "utf8").matchAll(/Request \([^)]*\): CONNECT (\S+) /g)].map(([, to = ""]) => to),
    stop: async () => {
      child.kill();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
