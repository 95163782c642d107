import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type Child, endedWith, startChild } from "./child.ts";
import { feed } from "./feed.ts";

const never = new AbortController().signal;
const shell = (script: string, more: Partial<Parameters<typeof startChild>[0]> = {}): Promise<Child> =>
  startChild({ command: "sh", args: ["-c", script], signal: never, ...more });

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const each of texts) yield Buffer.from(each);
}

test("a child's output, exit code and the beginning of its stderr are returned", async () => {
  const child = await shell("cat; echo wrong >&2; exit 3");
  const output = text(child.stdout);
  await feed(child.stdin, pieces("one ", "two"));
  expect(await output).toBe("one two");
  expect(await child.exited).toEqual({ code: 3, signal: null, stderr: "wrong\n" });
});

test("endless stderr is cut off", async () => {
  const child = await shell("yes error >&2");
  child.stderr.on("data", () => void child.stop());
  expect((await child.exited).stderr.length).toBeLessThanOrEqual(16 * 1024);
});

test("the agent's secrets are not passed on to a child", async () => {
  process.env["ATTESTORE_TEST_SECRET"] = "hush";
  const child = await shell("env", { env: { GIVEN: "yes" } });
  const output = await text(child.stdout);
  delete process.env["ATTESTORE_TEST_SECRET"];
  expect(output).toContain("GIVEN=yes");
  expect(output).not.toContain("hush");
});

test("an abort terminates the child", async () => {
  const controller = new AbortController();
  const child = await shell("exec sleep 60", { signal: controller.signal });
  controller.abort();
  expect(endedWith(await child.exited)).toBe("signal SIGTERM");
  await expect(shell("true", { signal: controller.signal })).rejects.toMatchObject({ code: "interrupted" });
});

test("a child that ignores SIGTERM is killed", async () => {
  const child = await shell("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  await new Promise((resolve) => child.stdout.once("data", resolve));
  expect(endedWith(await child.stop())).toBe("signal SIGKILL");
});

test("stopping a child that has ended with unread output returns at once", async () => {
  const child = await shell("head -c 30000 /dev/zero; exit 0");
  // It has ended when its process is a zombie or gone; its output still waits.
  await expect.poll(() => isRunning(child.pid)).toBe(false);
  const started = performance.now();
  await child.stop();
  // The grace that it would otherwise wait for is five seconds.
  expect(performance.now() - started).toBeLessThan(4_000);
});

test("a child that reads no further does not keep the rest from being read", async () => {
  const child = await shell("head -c 3 > /dev/null; exit 0");
  let asked = 0;
  async function* many(): AsyncGenerator<Buffer> {
    for (; asked < 100; asked++) yield Buffer.alloc(100_000);
  }
  await feed(child.stdin, many());
  expect(asked).toBe(100);
  child.stdout.resume();
  expect((await child.exited).code).toBe(0);
});

test("a program that is not there", async () => {
  await expect(startChild({ command: "/nowhere/pg_dump", args: [], signal: never })).rejects.toMatchObject({
    name: "RunError",
    code: "tool_missing",
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
