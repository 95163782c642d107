import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PODMAN_SETTINGS } from "../../../../tests/e2e/harness/podman.ts";

/**
 * The Containerfile's image, from its last stage on. The stage before runs `npm ci`, which needs a
 * registry: in its place is what its script makes of this checkout, and in place of Node's official
 * image one that is made on the spot.
 */

const ROOT = join(import.meta.dirname, "../../../..");
const BASE = "localhost/attestore-test/node:24";

/** Half a minute on a machine that has nothing else to do. */
const SLOW_MS = 400_000;

let directory: string;
const podman = (...args: string[]): string =>
  execFileSync(
    "podman",
    [
      "--root",
      join(directory, "root"),
      "--runroot",
      join(directory, "run"),
      "--tmpdir",
      join(directory, "tmp"),
      ...args,
    ],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, CONTAINERS_CONF: join(directory, "containers.conf") },
    },
  );
const server = (...args: string[]): string =>
  podman("exec", "server", "/opt/attestore-server/attestore-server", ...args);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "server-image-"));
  writeFileSync(join(directory, "containers.conf"), PODMAN_SETTINGS);
  const base = join(directory, "base.tar");
  const out = openSync(base, "w");
  execFileSync(join(import.meta.dirname, "node-root"), [process.execPath], {
    stdio: ["ignore", out, "inherit"],
  });
  closeSync(out);
  podman("import", "--quiet", base, BASE);
  rmSync(base);
  const built = join(directory, "built");
  mkdirSync(join(built, "assembled/data"), { recursive: true });
  execFileSync(join(ROOT, "packaging/server/assemble"), [join(built, "assembled/app")], { stdio: "pipe" });
  podman(
    "build",
    "--quiet",
    "--isolation=chroot",
    `--build-arg=NODE_IMAGE=${BASE}`,
    `--build-context=build=${built}`,
    `--file=${join(ROOT, "packaging/server/Containerfile")}`,
    "--tag=attestore-server",
    ROOT,
  );
  rmSync(built, { recursive: true });
}, SLOW_MS);
afterAll(() => {
  podman("rm", "--all", "--force", "--time", "0");
  podman("volume", "rm", "--all", "--force");
  podman("image", "rm", "--all", "--force");
  rmSync(directory, { recursive: true });
}, SLOW_MS);

const start = (): string =>
  podman(
    "run",
    "--detach",
    "--name=server",
    "--read-only",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--tmpfs=/tmp",
    "--volume=attestore:/var/lib/attestore-server",
    "--network=none",
    "--env=ATTESTORE_PUBLIC_URL=https://localhost:8443",
    "attestore-server",
  );
const listens = () =>
  vi.waitUntil(() => podman("logs", "server").includes('"listening"'), { timeout: 120_000, interval: 200 });

test(
  "the container serves with a read-only root and no capability, keeps its data in the volume, and stops when told",
  { timeout: SLOW_MS },
  async () => {
    start();
    await listens();
    expect(server("doctor", "--json")).toContain('"ok": true');
    expect(podman("exec", "server", "sh", "-c", "id -u; stat -c %u /var/lib/attestore-server")).toBe(
      "1000\n1000\n",
    );
    server("org", "add", "Example");
    podman("stop", "--time", "60", "server");
    expect(podman("logs", "server")).toContain('"stopped"');
    expect(podman("inspect", "server", "--format", "{{.State.ExitCode}}").trim()).toBe("0");
    podman("rm", "server");
    start();
    await listens();
    expect(server("org", "list")).toContain("Example");
  },
);

test("the image contains nothing that only builds or tests need", () => {
  // The image has neither `find` nor more of a shell than dash.
  const files = podman("exec", "server", "sh", "-c", "ls -R /opt/attestore-server/packages");
  expect(files).toContain("main.ts");
  expect(files).not.toMatch(/\.test\.ts$/m);
  const modules = podman("exec", "server", "ls", "/opt/attestore-server/node_modules").split("\n");
  expect(modules).toContain("fastify");
  for (const name of ["vitest", "vite", "typescript", "react", "oxlint"]) expect(modules).not.toContain(name);
  expect(podman("exec", "server", "ls", "/opt/attestore-server/packages/dashboard/dist")).toContain(
    "index.html",
  );
});
