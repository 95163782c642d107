/** What a program under a dump's influence can do in the place where it runs. */
import { createServer, type Server } from "node:net";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Confinement } from "../../src/sandboxes/bounds/confinement.ts";
import { openIsolatedPlace } from "../../src/sandboxes/isolation/open-isolated-place.ts";
import { RestoreTooLarge } from "../../src/sandboxes/bounds/restore-too-large.ts";
import type { Place } from "../../src/sandboxes/place.ts";
import { feed } from "../../src/processes/feed.ts";
import { openProcessPlace } from "../../src/sandboxes/process/process-place.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

const { signal } = new AbortController();
let dir: TestPlace;
let listener: Server;
let port: number;

beforeAll(async () => {
  dir = await makeTestPlace();
  mkdirSync(join(dir.dir, "keys"));
  writeFileSync(join(dir.dir, "keys", "agent.key"), "a secret");
  chmodSync(join(dir.dir, "keys", "agent.key"), 0o644);
  listener = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
  await once(listener, "listening");
  port = (listener.address() as { port: number }).port;
});
afterAll(async () => {
  listener.close();
  await dir.remove();
});

/** What a shell there prints for a script. */
async function says(place: Place, script: string): Promise<string> {
  const child = await place.start({ command: "/bin/sh", args: ["-c", script], signal });
  child.stdin.end();
  return (await text(child.stdout)).trim();
}

async function within<Result>(
  confinement: Confinement,
  use: (place: Place) => Promise<Result>,
): Promise<Result> {
  const place = await openIsolatedPlace({ scratchDir: dir.scratch, signal, confinement });
  try {
    return await use(place);
  } finally {
    await place.close();
  }
}

const inSandbox = <Result>(use: (place: Place) => Promise<Result>): Promise<Result> =>
  within(new Confinement(1), use);

const connects = (): string =>
  `python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${port}), 5).recv(9).decode())' 2>&1 | tail -1`;
const isRunning = (mark: string): boolean =>
  readdirSync("/proc").some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(mark);
    } catch {
      return false;
    }
  });

test("without isolation, all of these attacks succeed", async () => {
  const place = await openProcessPlace(dir.scratch);
  try {
    expect(await says(place, `cat ${dir.dir}/keys/agent.key`)).toBe("a secret");
    expect(await says(place, connects())).toBe("reached");
    expect(await says(place, `setsid sleep 77.1${process.pid} >/dev/null 2>&1 & echo left`)).toBe("left");
    await expect.poll(() => isRunning(`sleep\u000077.1${process.pid}`)).toBe(true);
  } finally {
    await place.close();
  }
});

describe("a program in a sandbox", () => {
  test("is isolated by namespaces here", async () => {
    const confinement = new Confinement(1);
    await within(confinement, () => Promise.resolve());
    expect(confinement.level).toBe("namespaces");
  });

  test("cannot read the keys, whatever their mode", async () => {
    const script = `cat ${dir.dir}/keys/agent.key 2>&1; ls ${dir.dir} 2>&1`;
    expect(await inSandbox((place) => says(place, script))).not.toContain("secret");
  });

  test("cannot connect to anything, by address or by socket", async () => {
    expect(await inSandbox((place) => says(place, connects()))).toMatch(/Network is unreachable|refused/);
    expect(await inSandbox((place) => says(place, "ls /run /tmp /var/tmp"))).toBe(
      "/run:\nattestore\n\n/tmp:\n\n/var/tmp:",
    );
  });

  test("is another user without capabilities, and gains none", async () => {
    const status = await inSandbox((place) => says(place, "cat /proc/self/status"));
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    if (process.getuid?.() === 0) expect(status).not.toMatch(/^Uid:\s+0\s/m);
  });

  test("writes nothing that outlives the test", async () => {
    const script = `for d in / /etc /usr /home /opt ${dir.dir}; do touch "$d/left" && echo "$d"; done 2>/dev/null; touch left && echo here`;
    expect(await inSandbox((place) => says(place, script))).toBe("here");
    expect(existsSync(join(dir.dir, "left"))).toBe(false);
  });

  test("does not outlive the test, in whatever session it runs", async () => {
    const mark = `991.${process.pid}`;
    await inSandbox(async (place) => {
      expect(await says(place, `setsid setsid sleep ${mark} >/dev/null 2>&1 & echo left`)).toBe("left");
      await expect.poll(() => isRunning(`sleep\0${mark}`)).toBe(true);
    });
    await expect.poll(() => isRunning(`sleep\0${mark}`)).toBe(false);
    expect(await dir.leftovers()).toEqual([]);
  });

  test("the first program gets the whole data directly, and no other can", async () => {
    await inSandbox(async (place) => {
      const pieces = Array.from({ length: 40 }, (_, index) => Buffer.alloc((1 << 20) - index, 65 + index));
      const expected = createHash("sha256");
      for (const piece of pieces) expected.update(piece);
      const digest = expected.digest("hex");
      for (const way of ["direct", "in frames"]) {
        const args = ["-c", "sha256sum; [ -e /proc/$$/fd/3 ] || echo 'and no other'"];
        const child = await place.start({ command: "/bin/sh", args, signal, isFedDirectly: true });
        const [output] = await Promise.all([text(child.stdout), feed(child.stdin, Readable.from(pieces))]);
        expect(output, way).toBe(`${digest}  -\nand no other\n`);
      }
    });
  });

  test.each([
    ["ends without reading", "exit 7", 7],
    ["ends while something else has its stdin", "setsid sleep 993 >/dev/null 2>&1 & exit 7", 7],
    ["is missing", null, null],
  ])("fed past our relay, one that %s keeps nobody waiting", async (_, script, code) => {
    await inSandbox(async (place) => {
      const pieces = Array.from({ length: 8 }, () => Buffer.alloc(1 << 20));
      const request =
        script === null
          ? { command: "no-such-program", args: [] }
          : { command: "/bin/sh", args: ["-c", script] };
      const started = place.start({ ...request, signal, isFedDirectly: true });
      if (code === null) await expect(started).rejects.toThrow("missing");
      else {
        const child = await started;
        let read = 0;
        await feed(
          child.stdin,
          Readable.from(pieces).map((piece: Buffer) => {
            read += 1;
            return piece;
          }),
        );
        // All of it: only the end shows that a dump is whole.
        expect(read).toBe(pieces.length);
        expect(await child.exited).toMatchObject({ code });
      }
      expect(await says(place, "echo still here")).toBe("still here");
    });
  });

  test("cannot fork without end", async () => {
    const script =
      "i=0; while [ $i -lt 2000 ]; do sleep 60 >/dev/null & i=$((i + 1)); done 2>/dev/null; echo all";
    await inSandbox(async (place) => {
      const child = await place.start({ command: "/bin/sh", args: ["-c", script], signal });
      child.stdin.end();
      expect(await text(child.stdout)).not.toContain("all");
      expect((await child.exited).code).not.toBe(0);
      // Nor does it take the processes of the others that run as the same user.
      await inSandbox(async (other) => expect(await says(other, "(echo still) | cat")).toBe("still"));
    });
  });

  test("cannot fill the disk: it is stopped when it takes more than the signed size allows", async () => {
    const confinement = new Confinement(1);
    Object.assign(confinement, { diskBytes: 8 << 20 });
    await within(confinement, async (place) => {
      const script = 'while :; do i=$((i + 1)); head -c 1000000 /dev/zero >"f$i" || exit 1; done';
      const child = await place.start({ command: "/bin/sh", args: ["-c", script], signal });
      child.stdin.end();
      expect((await child.exited).signal).toBe("SIGKILL");
    });
    expect(confinement.whatEnded(null)).toBeInstanceOf(RestoreTooLarge);
    expect(await dir.leftovers()).toEqual([]);
  });
});
