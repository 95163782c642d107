import { execFile } from "node:child_process";
import { cp, mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBinaries } from "./binaries.ts";
import { TestServices } from "../../../test/postgres/test-services.ts";

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
  expect((await run("cat", ["/proc/self/mounts"])).stdout).not.toMatch(/\/attestore-\w{6}[/ ]/);
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

test("the user of an existing database stays, even if another would be chosen for a new one", async () => {
  const first = here.start("serve", [], { TEST_POSTGRES_USER: "nobody" });
  await first.opened();
  const { uid } = await stat(here.cluster);
  expect(uid).toBe((await stat(`/proc/${await here.postmasterPid()}`)).uid);
  expect((await run("id", ["-u", "nobody"])).stdout.trim()).toBe(String(uid));
  await first.end("SIGTERM");
  const second = here.start("serve");
  await second.opened();
  expect((await stat(`/proc/${await here.postmasterPid()}`)).uid).toBe(uid);
  const wrong = here.start("command", [], { TEST_POSTGRES_USER: "root" });
  expect(await wrong.ended).toBe(0); // It only joins, so its setting does not matter.
  await second.end("SIGTERM");
});

test("as an unprivileged user everything belongs to that user, and the error for another user names the owner", async () => {
  const as = (user: string): string[] => [
    "setpriv",
    "--reuid",
    user,
    "--regid",
    "nogroup",
    "--clear-groups",
    "--",
  ];
  here.data = join(here.root, "open", "data");
  await mkdir(dirname(here.data), { mode: 0o700 });
  await run("chown", ["nobody", dirname(here.data)]);
  const service = here.start("serve", ["create table kept (n int)"], {}, as("nobody"));
  await service.said((line) => line.done);
  const { uid } = await stat(here.cluster);
  for (const path of [here.data, join(here.data, "postgres", "run")])
    expect((await stat(path)).uid, path).toBe(uid);
  expect((await stat(`/proc/${await here.postmasterPid()}`)).uid).toBe(uid);
  const command = here.start("command", ["select count(*)::int as n from kept"], {}, as("nobody"));
  expect((await command.said((line) => line.rows)).rows).toEqual([{ n: 0 }]);
  const asRoot = here.start("command", ["select count(*)::int as n from kept"]);
  expect((await asRoot.said((line) => line.rows)).rows).toEqual([{ n: 0 }]);
  await service.end("SIGTERM");
  await run("chmod", ["-R", "a+rwX", dirname(here.data)]);
  const other = here.start("serve", [], {}, as("daemon"));
  expect((await other.said((line) => line.failed)).failed).toContain("belongs to user nobody");
});

test("where private mounts are forbidden, the barred directory is named", async () => {
  const home = join(here.root, "home");
  await mkdir(home, { mode: 0o700 });
  here.data = join(home, "data");
  const withoutMounts = ["setpriv", "--inh-caps=-sys_admin", "--bounding-set=-sys_admin", "--"];
  const service = here.start("serve", [], {}, withoutMounts);
  const { failed } = await service.said((line) => line.failed);
  expect(failed).toContain(`cannot enter ${home}`);
  expect(failed).toContain("ATTESTORE_DATA");
  expect(await readdir(join(here.data, "postgres"))).not.toContain("runtime");
});

test("a data directory of another user, or one that cannot be created, is reported as the user's mistake", async () => {
  const service = here.start("serve");
  await service.opened();
  const asNobody = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--"];
  const stranger = here.start("command", [], {}, asNobody);
  expect((await stranger.said((line) => line.failed)).failed).toContain("Run this as the service's user");
  await service.end("SIGTERM");
  here.data = "/proc/none";
  const impossible = here.start("serve");
  expect((await impossible.said((line) => line.failed)).failed).toContain("/proc/none cannot be used");
});
