import { execFile } from "node:child_process";
import { cp, mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBinaries } from "./binaries.ts";
import { TestServices } from "./test-services.ts";

const run = promisify(execFile);

let here: TestServices;
beforeEach(async () => {
  here = await TestServices.create();
});
afterEach(() => here.remove());

test("a system's PostgreSQL can be used instead", async () => {
  const service = here.start("serve", ["show server_version"], { TEST_POSTGRES: "/usr/lib/postgresql/15" });
  const { rows } = await service.said((line) => line.rows);
  expect(String(rows?.[0]?.["server_version"])).toMatch(/^15\./);
  expect(await service.end("SIGTERM")).toBe(0);
});

test("a path too long for a socket gets a short private directory, which is removed again, also after kill -9", async () => {
  here.data = join(here.root, "x".repeat(120), "data");
  await mkdir(dirname(here.data), { mode: 0o711 });
  const first = here.start("serve");
  const { host } = await first.opened();
  expect(String(host).length).toBeLessThan(60);
  expect((await stat(dirname(String(host)))).mode & 0o066).toBe(0);
  await first.end("SIGKILL");
  const second = here.start("serve");
  const again = String((await second.opened()).host);
  await expect(stat(dirname(String(host)))).rejects.toMatchObject({ code: "ENOENT" });
  const command = here.start("command", ["select 1 as one"]);
  expect((await command.said((line) => line.rows)).rows).toEqual([{ one: 1 }]);
  await second.end("SIGTERM");
  await expect(stat(dirname(again))).rejects.toMatchObject({ code: "ENOENT" });
});

test("as root under a directory that nobody else may enter, program included: it works, and no permission changes", async () => {
  const home = join(here.root, "home");
  await mkdir(home, { mode: 0o700 });
  const native = await findBinaries(undefined);
  await cp(native, join(home, "native"), { recursive: true, verbatimSymlinks: true });
  here.data = join(home, "data");
  const service = here.start("serve", ["create table kept (n int)"], { TEST_POSTGRES: join(home, "native") });
  await service.said((line) => line.rows);
  const command = here.start("command", ["select count(*)::int as n from kept"]);
  expect((await command.said((line) => line.rows)).rows).toEqual([{ n: 0 }]);
  expect((await stat(home)).mode & 0o777).toBe(0o700);
  expect(await service.end("SIGTERM")).toBe(0);
  expect((await run("cat", ["/proc/self/mounts"])).stdout).not.toContain("attestore-");
});

test("a read-only package: the libraries' names are kept in the data directory", async () => {
  const native = await findBinaries(undefined);
  const copy = join(here.root, "native");
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  await run("find", [join(copy, "lib"), "-maxdepth", "1", "-type", "l", "-delete"]);
  await run("mount", ["--bind", copy, copy]);
  try {
    await run("mount", ["-o", "remount,bind,ro", copy]);
    const service = here.start("serve", ["select 1 as one"], { TEST_POSTGRES: copy });
    expect((await service.said((line) => line.rows)).rows).toEqual([{ one: 1 }]);
    expect(await readdir(join(here.data, "postgres", "library-links"))).toContain("libpq.so.5");
    await service.end("SIGTERM");
  } finally {
    await run("umount", [copy]);
  }
});
