/** What a dump's programs can take of a host on which no control group holds them. */
import { readdirSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Child } from "../../src/processes/child.ts";
import { RunError } from "../../src/errors/run-error.ts";
import { Confinement, type ReachedLimit } from "../../src/sandboxes/bounds/confinement.ts";
import { openIsolatedPlace } from "../../src/sandboxes/isolation/open-isolated-place.ts";
import type { Place } from "../../src/sandboxes/place.ts";
import { openProcessPlace, type PlaceBounds } from "../../src/sandboxes/process/process-place.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

const MIB = 1 << 20;
const { signal } = new AbortController();
let dir: TestPlace;

beforeAll(async () => {
  dir = await makeTestPlace();
});
afterAll(() => dir.remove());

const shell = (place: Place, script: string): Promise<Child> =>
  place.start({ command: "/bin/sh", args: ["-c", script], signal });
async function says(place: Place, script: string): Promise<string> {
  const child = await shell(place, script);
  child.stdin.end();
  return (await text(child.stdout)).trim();
}

/**
 * As it is where another user is all that holds a restore; null for nothing but that, as it was.
 */
async function asUser<Result>(
  bounds: Partial<PlaceBounds> | null,
  use: (place: Place, reached: ReachedLimit[]) => Promise<Result>,
): Promise<Result> {
  const reached: ReachedLimit[] = [];
  const place = await openProcessPlace(
    dir.scratch,
    bounds && {
      disk_bytes: 1024 * MIB,
      file_bytes: 1024 * MIB,
      memory_bytes: 1024 * MIB,
      processes: 64,
      onLimit: (limit) => reached.push(limit),
      ...bounds,
    },
  );
  try {
    return await use(place, reached);
  } finally {
    await place.close();
  }
}

const running = (mark: string): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(`sleep\0${mark}`);
    } catch {
      return false;
    }
  }).length;
const forks = (mark: string): string =>
  `( i=0; while [ $i -lt 200 ]; do sleep ${mark} >/dev/null 2>&1 & i=$((i + 1)); done; echo all ) 2>/dev/null; echo on`;
const GROWS = `exec python3 -c 'import time
held = []
print("grows", flush=True)
for _ in range(400):
    held.append(bytearray(b"x") * (1 << 20))
print("grown", flush=True)
time.sleep(300)'`;
const GROWS_AS_ORPHAN = `setsid --fork sh -c "$0" & sleep 300`;
const GROWS_BELOW_A_THREAD = `exec python3 -c 'import subprocess, sys, threading
threading.Thread(target=lambda: subprocess.call(["sh", "-c", sys.argv[1]])).start()' "$0"`;

describe("with no isolation but another user", () => {
  test("a dump that forks without end would get all the processes that it asks for", async () => {
    expect(await asUser(null, (place) => says(place, forks(`61.1${process.pid}`)))).toBe("all\non");
  });

  test("it gets no more than its limit, and no process outlives the test", async () => {
    const mark = `62.1${process.pid}`;
    await asUser({}, async (place) => {
      expect(await says(place, forks(mark))).not.toContain("all");
      // On top of what that user had when it began, which may have ended since.
      expect(running(mark)).toBeLessThan(200);
    });
    expect(running(mark)).toBe(0);
  });

  test("a program that is just being started when the test ends is ended too", async () => {
    const mark = `64.1${process.pid}`;
    for (let round = 0; round < 10; round++)
      await asUser({}, async (place) => {
        await says(place, `i=0; while [ $i -lt 30 ]; do sleep ${mark} >/dev/null 2>&1 & i=$((i + 1)); done`);
      });
    expect(running(mark)).toBe(0);
  });

  test("a process in a session of its own, without its parent, is ended too", async () => {
    const mark = `63.1${process.pid}`;
    await asUser({}, async (place) => {
      await says(place, `setsid setsid sleep ${mark} >/dev/null 2>&1 &`);
      const child = await shell(place, `env -i setsid sleep ${mark} >/dev/null 2>&1 & exec sleep ${mark}`);
      await expect.poll(() => running(mark)).toBe(3);
      child.stdin.end();
    });
    expect(running(mark)).toBe(0);
  });

  test("taking endless memory ends the restore as one that could not run", async () => {
    expect(await asUser(null, async (place) => firstTwoLines(await shell(place, GROWS)))).toBe(
      "grows\ngrown",
    );
    await asUser({ memory_bytes: 200 * MIB }, async (place, reached) => {
      const child = await shell(place, GROWS);
      const exit = await child.exited;
      expect([exit.signal, reached]).toEqual(["SIGKILL", ["memory"]]);
    });
    const confinement = new Confinement(1, { restoreMemory: 200 * MIB });
    confinement.reach("memory");
    expect(confinement.whatEnded(new Error("killed"))).toBeInstanceOf(RunError);
  });

  test("filling the disk ends it too, and one file may not take more than all together", async () => {
    await asUser({ disk_bytes: 8 * MIB, file_bytes: 4 * MIB }, async (place, reached) => {
      const script = `head -c ${6 * MIB} /dev/zero >one 2>/dev/null; stat -c %s one`;
      expect(await says(place, script)).toBe(String(4 * MIB));
      const child = await shell(
        place,
        "for n in 1 2 3 4; do head -c 3000000 /dev/zero >$n; done; exec sleep 300",
      );
      await child.exited;
      // By the look that ended it, and perhaps again by the look at its end.
      expect([...new Set(reached)]).toEqual(["disk"]);
    });
  });
});

async function firstTwoLines(child: Child): Promise<string> {
  let said = "";
  for await (const bytes of child.stdout) {
    said += String(bytes);
    if (said.includes("grown")) break;
  }
  return said.trim();
}

describe("in namespaces", () => {
  test.each([
    ["by a program of the restore", 'eval "$0"'],
    ["by a program without its parent, in a session of its own", GROWS_AS_ORPHAN],
    ["by a child of another program's second thread", GROWS_BELOW_A_THREAD],
  ])("memory taken %s ends the restore as one that could not run", async (_, script) => {
    const confinement = new Confinement(1, { restoreMemory: 200 * MIB });
    const place = await openIsolatedPlace({ scratchDir: dir.scratch, signal, confinement });
    try {
      expect(confinement.level).toBe("namespaces");
      const child = await place.start({ command: "/bin/sh", args: ["-c", script, GROWS], signal });
      await child.exited;
      expect(() => confinement.requireWithin()).toThrow(/more than 200 MiB of memory|more than .* of memory/);
    } finally {
      await place.close();
    }
  });

  test("a program that has ended while another process holds its output can be stopped", async () => {
    const place = await openIsolatedPlace({
      scratchDir: dir.scratch,
      signal,
      confinement: new Confinement(1),
    });
    try {
      const child = await shell(place, "setsid sleep 300 & echo $! >started; exit 3");
      const isThere = async (): Promise<string> => says(place, "cat started 2>/dev/null; pgrep -c sleep");
      await expect.poll(isThere).toMatch(/^\d+\n1$/);
      expect((await child.stop()).code).toBe(3);
    } finally {
      await place.close();
    }
  });
});

test("a backup without a signed size may take a share of the free space", () => {
  const unknown = new Confinement(null);
  unknown.fitTo(10 * 1024 * MIB);
  expect(unknown.diskBytes).toBe(5 * 1024 * MIB);
  unknown.reach("disk");
  expect(unknown.whatEnded(null)).toMatchObject({ code: "disk_full" });
  const signed = new Confinement(1024 * MIB);
  signed.fitTo(10 * 1024 * MIB);
  expect(signed.diskBytes).toBe(16 * 1024 * MIB);
  const said = new Confinement(null, { restoreDisk: 3 * MIB });
  said.fitTo(10 * 1024 * MIB);
  expect(said.diskBytes).toBe(3 * MIB);
  said.reach("disk");
  expect(said.whatEnded(null)).toMatchObject({ code: "restore_too_large" });
});
