import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDashboard } from "./dashboard/build-dashboard.ts";
import { descendants, type Process } from "./harness/processes.ts";
import { freePort } from "./harness/free-port.ts";
import { repositoryCopy } from "./harness/repository-copy.ts";
import { until } from "./harness/wait.ts";

const ROOT = join(import.meta.dirname, "../..");
const directories: string[] = [];

beforeAll(buildDashboard);
afterAll(() => directories.forEach((each) => rmSync(each, { recursive: true, force: true })));

function isAlive({ pid, command }: Process): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() === command;
  } catch {
    return false;
  }
}

/**
 * Packages are built with the lowest priority, which beside other tests would get no processor
 * time.
 */
function hurry(root: number): void {
  for (const { pid } of descendants(root)) {
    try {
      setPriority(pid, 0);
    } catch {
      // It ended while we looked.
    }
  }
}

/** A script of package.json as a shell runs it, on a data directory of its own. */
async function npm(script: string, cwd = ROOT) {
  const data = mkdtempSync(join(tmpdir(), "attestore-npm-"));
  directories.push(data);
  const port = await freePort();
  const child = spawn("npm", ["run", script], {
    cwd,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST)/.test(name))),
      NODE_ENV: undefined,
      ATTESTORE_DATA: data,
      // Nothing is built into this checkout.
      ATTESTORE_DOWNLOADS: cwd === ROOT ? data : undefined,
      ATTESTORE_LISTEN: `127.0.0.1:${port}`,
      ATTESTORE_PUBLIC_URL: `https://localhost:${port}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let talk = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (talk += text));
  return { child, data, talk: () => talk };
}

test.each([
  ["start", "SIGTERM", "listening"],
  ["start", "SIGKILL", "listening"],
  ["dev", "SIGTERM", "dev: open"],
  ["dev", "SIGKILL", "dev: open"],
  ["demo", "SIGTERM", "start attestore-server"],
  ["demo", "SIGKILL", "start attestore-server"],
] as const)("npm run %s leaves nothing running after %s to npm", async (script, signal, sign) => {
  const { child, data, talk } = await npm(script);
  const ended = once(child, "exit");
  await until(
    `npm run ${script} says "${sign}"`,
    () => {
      if (child.exitCode !== null) throw new Error(`npm run ${script} ended:\n${talk()}`);
      return talk().includes(sign);
    },
    120,
  );
  const started = descendants(child.pid ?? 0);
  expect(started.some(({ command }) => command.includes("postgres"))).toBe(true);
  const postmaster = join(data, script === "demo" ? "demo/server" : ".", "postgres/data/postmaster.pid");
  expect(existsSync(postmaster)).toBe(true);
  child.kill(signal);
  await ended;
  try {
    await until("all that npm started has ended", () => !started.some(isAlive), 30);
  } catch (error) {
    const left = started.filter(isAlive);
    for (const { pid } of left) process.kill(pid, "SIGKILL");
    throw new Error(left.map(({ command }) => command).join("\n"), { cause: error });
  }
  // It was stopped and did not crash: nothing is left to be mended at the next start.
  expect(existsSync(postmaster), talk()).toBe(false);
});

test("npm run demo ends well, and names somebody who can sign in to the organisation that it leaves", async () => {
  const { child, data, talk } = await npm("demo");
  const [code] = (await once(child, "close")) as [number];
  expect(code, talk()).toBe(0);
  const [, email = "nobody"] = /sign in as (\S+);/.exec(talk()) ?? [];
  const listed = spawnSync("npx", ["attestore-server", "user", "list", "--org", "demo-shop"], {
    cwd: ROOT,
    env: { ...process.env, ATTESTORE_DATA: join(data, "demo/server") },
    encoding: "utf8",
  });
  expect(listed.stdout, listed.stderr).toMatch(new RegExp(`${RegExp.escape(email)}.*owner`));
});

test("npm start builds the packages for other hosts beside the service, and both end together", async () => {
  const copy = repositoryCopy();
  directories.push(copy.directory);
  const dist = join(copy.directory, "dist");
  const isBuilding = (): boolean => existsSync(join(dist, "build.json"));
  const startUntil = async (what: string, isSo: (talk: string) => boolean): Promise<void> => {
    const { child, talk } = await npm("start", copy.directory);
    const ended = once(child, "exit");
    try {
      const hasCome = (): boolean => {
        hurry(child.pid ?? 0);
        return isSo(talk());
      };
      await until(what, hasCome, 500).catch((error: unknown) => {
        throw new Error(talk(), { cause: error });
      });
      const started = descendants(child.pid ?? 0);
      child.kill("SIGTERM");
      await ended;
      await until("all that npm started has ended", () => !started.some(isAlive), 30);
    } finally {
      child.kill("SIGTERM");
    }
  };
  await startUntil("packages are being built", isBuilding);
  expect([isBuilding(), existsSync(join(dist, "SHA256SUMS.minisig"))]).toEqual([false, false]);
  await startUntil(
    "the service listens, and packages are built",
    (talk) => talk.includes("listening") && existsSync(join(dist, "SHA256SUMS.minisig")),
  );
  expect(existsSync(join(dist, "install.sh"))).toBe(true);
});
