import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findInstallations } from "../connection/installations.ts";
import { ownProcessTag } from "../../../processes/process-tag.ts";
import { makeScratchDirectory } from "../../../sandboxes/process/scratch-directory.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";

const HOLDER = join(import.meta.dirname, "../../../../test/runs/hold-scratch-postgres.ts");
const never = new AbortController().signal;
const isRoot = process.getuid?.() === 0;

let parent = "";
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "scratch-test-"));
  // Everything is below this directory, so the unprivileged user must be able to enter it.
  await chmod(parent, 0o755);
});
afterEach(() => rm(parent, { recursive: true, force: true }));

async function bin(): Promise<string> {
  const [installation] = await findInstallations(["postgres", "initdb"]);
  if (installation === undefined) throw new Error("no PostgreSQL server is installed: run tools/setup test");
  return installation.bin;
}

function isRunning(pid: number): boolean {
  try {
    // A zombie still accepts signals.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}

const postmasterOf = (data: string): number =>
  Number.parseInt(readFileSync(join(data, "postmaster.pid"), "latin1"), 10);

test("a scratch server listens on a socket for its own user only, and leaves no trace", async () => {
  const server = await startScratchPostgres(await bin(), parent, never);
  const psql = (sql: string): string =>
    execFileSync("psql", ["-XAtc", sql], {
      env: { ...process.env, ...server.environment },
      encoding: "utf8",
    }).trim();
  const data = psql("show data_directory");
  const pid = postmasterOf(data);
  expect(psql("show listen_addresses")).toBe("");
  expect(psql("select pg_catalog.current_setting('fsync'), pg_catalog.current_setting('jit')")).toBe(
    "off|off",
  );
  expect(statSync(dirname(data)).mode & 0o777).toBe(0o700);
  expect(statSync(server.environment["PGHOST"] ?? "").mode & 0o777).toBe(0o700);
  expect(Buffer.byteLength(`${server.environment["PGHOST"]}/.s.PGSQL.5432`)).toBeLessThan(107);
  if (isRoot) expect(statSync(`/proc/${pid}`).uid).not.toBe(0);
  expect(server.hasDied()).toBe(false);
  await server.close();
  expect(isRunning(pid)).toBe(false);
  expect(await readdir(parent)).toEqual([]);
  expect(existsSync(server.environment["PGHOST"] ?? "")).toBe(false);
});

test("an abort while it starts leaves nothing", async () => {
  const controller = new AbortController();
  const starting = startScratchPostgres(await bin(), parent, controller.signal);
  await expect.poll(async () => (await readdir(parent)).length).toBeGreaterThan(0);
  controller.abort();
  await expect(starting).rejects.toMatchObject({ code: "interrupted" });
  expect(await readdir(parent)).toEqual([]);
});

test("a directory without write permission gives no result", async () => {
  const file = join(parent, "file");
  await writeFile(file, "");
  await expect(startScratchPostgres(await bin(), join(file, "below"), never)).rejects.toMatchObject({
    name: "RunError",
  });
});

describe("kill -9 of whoever started it", () => {
  async function held(
    path: string | undefined,
  ): Promise<{ data: string; sockets: string; kill: () => Promise<void> }> {
    const holder = spawn(process.execPath, ["--no-warnings", HOLDER, await bin(), parent], {
      stdio: ["ignore", "pipe", "inherit"],
      env: path === undefined ? process.env : { ...process.env, PATH: path },
    });
    const [line] = (await once(createInterface({ input: holder.stdout }), "line")) as [string];
    const place = JSON.parse(line) as { data: string; sockets: string };
    const kill = async (): Promise<void> => {
      holder.kill("SIGKILL");
      await once(holder, "exit");
    };
    return { ...place, kill };
  }

  test("takes the server with it, and the next run removes its directories", async () => {
    const { data, sockets, kill } = await held(undefined);
    const pid = postmasterOf(data);
    expect(isRunning(pid)).toBe(true);
    await kill();
    await expect.poll(() => isRunning(pid)).toBe(false);
    const server = await startScratchPostgres(await bin(), parent, never);
    expect(existsSync(dirname(data))).toBe(false);
    expect(existsSync(sockets)).toBe(false);
    await server.close();
  });

  test("without setpriv the next run stops the server that is left", async () => {
    // A PATH whose directories do not exist counts as empty, and the usual PATH is used.
    const noPrograms = join(parent, "no-programs");
    await mkdir(noPrograms, { mode: 0o755 });
    const { data, kill } = await held(noPrograms);
    const pid = postmasterOf(data);
    await kill();
    expect(isRunning(pid)).toBe(true);
    const scratch = await makeScratchDirectory(parent, null);
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(dirname(data))).toBe(false);
    await scratch.remove();
  });
});

describe("directories that somebody left", () => {
  const [pid, start, ...rest] = ownProcessTag().split("-");
  const gone = `attestore-${[pid, Number(start) + 1, ...rest].join("-")}-01234567`;

  test("a process that got the id of a server long gone is left alone", async () => {
    const bystander = spawn("sleep", ["60"]);
    await once(bystander, "spawn");
    await mkdir(join(parent, gone, "data"), { recursive: true });
    await writeFile(join(parent, gone, "data", "postmaster.pid"), `${bystander.pid}\n`);
    const scratch = await makeScratchDirectory(parent, null);
    expect(existsSync(join(parent, gone))).toBe(false);
    expect(isRunning(bystander.pid ?? 0)).toBe(true);
    bystander.kill("SIGKILL");
    await scratch.remove();
  });

  test("directories of running processes stay, and so does everything else", async () => {
    const mine = await makeScratchDirectory(parent, null);
    for (const name of ["attestore-data", "attestore-1", "other"]) await mkdir(join(parent, name));
    const another = await makeScratchDirectory(parent, null);
    expect(await readdir(parent)).toHaveLength(5);
    await Promise.all([mine.remove(), another.remove()]);
    expect((await readdir(parent)).toSorted()).toEqual(["attestore-1", "attestore-data", "other"]);
  });

  test("a directory without write permission is removed too", async () => {
    const scratch = await makeScratchDirectory(parent, null);
    await mkdir(join(scratch.path, "a", "b"), { recursive: true });
    await writeFile(join(scratch.path, "a", "b", "file"), "");
    await chmod(join(scratch.path, "a", "b"), 0o500);
    await chmod(join(scratch.path, "a"), 0o000);
    await scratch.remove();
    expect(await readdir(parent)).toEqual([]);
  });
});

test("a socket's path is short wherever the other files are", async () => {
  // This is what would go wrong otherwise: the kernel's limit.
  const long = join(parent, "x".repeat(120));
  await mkdir(long);
  const listening = createServer().listen(join(long, "s"));
  await expect(once(listening, "listening")).rejects.toThrow();
  await chmod(long, 0o755);
  const server = await startScratchPostgres(await bin(), long, never);
  expect(await readdir(long)).toHaveLength(1);
  await server.close();
});
