import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { Socket } from "node:net";
import { join } from "node:path";
import { NAMESPACE_HOME, NAMESPACE_SOCKETS } from "./namespaces.ts";
import { ownProgram } from "../../processes/own-program.ts";
import { type ServedSandbox, serveSandbox } from "./serve-sandbox.ts";

/** The package creates it; it owns nothing. */
const UNIT_USER = "attestore-sandbox";

/**
 * `attestore internal-sandbox [unit]`: runs in namespaces that the agent made, or as the packaged
 * unit with a socket as stdin.
 */
export async function runSandbox([where]: readonly string[]): Promise<void> {
  const input = new Socket({ fd: 0 });
  const isUnit = where === "unit";
  const output = isUnit ? input : new Socket({ fd: 1, readable: false });
  const sandbox = isUnit ? unitSandbox() : namespaceSandbox();
  await serveSandbox(input, output, sandbox);
  if (sandbox.user !== null) empty(sandbox.home, sandbox.user);
  process.exit(0);
}

function namespaceSandbox(): ServedSandbox {
  return {
    home: NAMESPACE_HOME,
    sockets: NAMESPACE_SOCKETS,
    self: ownProgram(),
    user: null,
    // The agent sees the directory, and can't be reached from in here.
    watchesDisk: false,
  };
}

function unitSandbox(): ServedSandbox {
  const user = unitUser();
  const cache = process.env["CACHE_DIRECTORY"];
  if (cache === undefined)
    throw new Error("CACHE_DIRECTORY is not set: this is for attestore-sandbox@.service");
  const [home, sockets] = [join(cache, "data"), "/run/sockets"];
  for (const directory of [home, sockets]) {
    mkdirSync(directory, { mode: 0o700, recursive: true });
    chownSync(directory, user.uid, user.gid);
  }
  return { home, sockets, self: ownProgram(), user, watchesDisk: true };
}

/**
 * Runs as the user who owns everything. Programs that still run may create more; that goes when the
 * unit ends.
 */
function empty(directory: string, user: { uid: number; gid: number }): void {
  spawnSync("/bin/sh", ["-c", "chmod -R u+rwX . && find . -mindepth 1 -delete"], {
    ...user,
    cwd: directory,
    stdio: "ignore",
    env: { PATH: "/usr/bin:/bin" },
  });
}

function unitUser(): { uid: number; gid: number } {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name === UNIT_USER && Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`there is no user ${UNIT_USER}: the deb and rpm packages create it`);
}
