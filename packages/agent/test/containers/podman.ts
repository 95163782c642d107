/**
 * A Podman of its own, whose socket speaks Docker's API, with an image of a database server that is
 * made on the spot.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, closeSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { PODMAN_SETTINGS } from "../../../../tests/e2e/harness/podman.ts";

/** Without registry: nothing of the network has a part in it. */
export const IMAGE = "localhost/attestore-test/postgres";
export const MARIADB_IMAGE = "localhost/attestore-test/mariadb";
/** Debian 12's. */
const TAGGED = { postgresql: `${IMAGE}:15`, mariadb: `${MARIADB_IMAGE}:10.11` };

export interface Podman {
  readonly socket: string;
  run(...args: string[]): string;
  /** Every container and volume there is. */
  everything(): string[];
  stop(): Promise<void>;
}

export async function startPodman(server: keyof typeof TAGGED): Promise<Podman> {
  const dir = await mkdtemp(join(tmpdir(), "podman-"));
  const config = join(dir, "containers.conf");
  await writeFile(config, PODMAN_SETTINGS);
  const env = { ...process.env, CONTAINERS_CONF: config };
  const places = ["--root", join(dir, "root"), "--runroot", join(dir, "run"), "--tmpdir", join(dir, "tmp")];
  const run = (...args: string[]): string =>
    execFileSync("podman", [...places, ...args], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });

  const archive = join(dir, "image.tar");
  const out = openSync(archive, "w");
  execFileSync(join(import.meta.dirname, "build-image"), [server], { stdio: ["ignore", out, "inherit"] });
  closeSync(out);
  run("import", "--quiet", archive, TAGGED[server]);
  await rm(archive);

  const socket = join(dir, "podman.sock");
  const service = spawn("podman", [...places, "system", "service", "--time", "0", `unix://${socket}`], {
    env,
    stdio: "ignore",
  });
  await vi.waitUntil(() => existsSync(socket), { timeout: 30_000 });
  const names = (output: string): string[] => output.split("\n").filter((line) => line !== "");
  return {
    socket,
    run,
    everything: () => [
      ...names(run("ps", "--all", "--format", "{{.Names}}")),
      ...names(run("volume", "ls", "--format", "{{.Name}}")),
    ],
    stop: async () => {
      run("rm", "--all", "--force", "--time", "0");
      service.kill("SIGTERM");
      await once(service, "exit");
      run("image", "rm", "--all", "--force");
      await rm(dir, { recursive: true, force: true });
    },
  };
}
