import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli, startCli, type Running } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

let service: TestService;
let root: TestRoot;
let agent: Running | null;

beforeEach(async () => {
  agent = null;
  service = await TestService.start();
  root = await attachedRoot(service, "  papers: { engine: files, path: papers }\n");
  mkdirSync(join(root.layout.root, "papers"));
  // What can't be compressed: as many bytes go over the line.
  writeFileSync(join(root.layout.root, "papers/noise"), randomBytes(600_000));
});
afterEach(async () => {
  agent?.process.kill("SIGKILL");
  await agent?.finished;
  root.remove();
  await service.stop();
});

const config = (): string => readFileSync(root.layout.config, "utf8");
const env = () => ({ env: { ATTESTORE_HOME: root.layout.root } });

/** This host's time of day, some hours from now. */
function clock(hours: number): string {
  const then = new Date(Date.now() + hours * 3_600_000);
  return [then.getHours(), then.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}

it("the agent sends no faster than config.yaml says, and --max-rate instead of that", async () => {
  writeFileSync(root.layout.config, `${config()}upload: { max_rate: 20kB }\n`);
  const started = performance.now();
  const slow = startCli(["backup"], env());
  // At 20 kB a second it takes 30 s: it is not waited for.
  await expect.poll(() => service.calls.some(({ route }) => route.endsWith("/upload-url"))).toBe(true);
  await pause(3_000);
  expect(service.calls.filter(({ route }) => route === "POST /v1/backups")).toEqual([]);
  slow.process.kill("SIGINT");
  expect((await slow.finished).code).toBe(130);
  expect(performance.now() - started).toBeLessThan(28_000);

  const sent = performance.now();
  expect((await runCli(["sync", "--max-rate", "300kB"], env())).code).toBe(0);
  expect(performance.now() - sent).toBeGreaterThan(1_700);
  expect(service.receipts).toHaveLength(1);
});

it("the agent uploads only in its windows: a backup waits, and so does `run`; `sync` means now", async () => {
  const opens = clock(2);
  writeFileSync(root.layout.config, `${config()}upload: { windows: ["${opens}-${clock(3)}"] }\n`);
  const made = await runCli(["backup", "--json"], env());
  expect(made.code, made.stderr).toBe(2);
  expect(JSON.parse(made.stdout)).toMatchObject({ error: "outside_window" });
  expect(made.stdout).toContain(opens);
  agent = startCli(["run"], env());
  await agent.said("attestore runs as");
  const beats = service.heartbeats.length;
  while (service.heartbeats.length < beats + 3) await pause(50);
  expect([...service.objects.keys()]).toEqual([]);
  const synced = await runCli(["sync", "--json"], env());
  expect(JSON.parse(synced.stdout)).toMatchObject({ backups_delivered: 1, accepted: 1 });

  // Now is in a window: nothing is held back.
  writeFileSync(
    root.layout.config,
    config().replace(/windows: .*\]/, `windows: ["${clock(-1)}-${clock(1)}"]`),
  );
  expect((await runCli(["backup"], env())).code).toBe(0);
});

it("a signal ends the program in the middle of a hole of 15 TB", async () => {
  const hole = join(root.layout.root, "papers/hole");
  writeFileSync(hole, "");
  truncateSync(hole, 15e12);
  writeFileSync(root.layout.config, `${config()}limits: { logical_bytes: 20TB, bytes: 20TB }\n`);
  // The hole itself takes hours: every one of its bytes is hashed.
  const isInIt = (): boolean =>
    existsSync(root.layout.blobs) && readdirSync(root.layout.blobs).some((name) => name !== "stored");
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    agent = startCli(["backup"], env());
    await Promise.race([
      expect.poll(isInIt).toBe(true),
      agent.finished.then((ended) => expect(ended).toBeNull()),
    ]);
    const at = performance.now();
    agent.process.kill(signal);
    expect((await agent.finished).code).toBe(130);
    expect(performance.now() - at).toBeLessThan(15_000);
    expect(isInIt()).toBe(false);
  }
  // Nothing of it is left, and the next command has nothing to wait for.
  expect(readdirSync(root.layout.scratch)).toEqual([]);
  expect(service.receipts).toEqual([]);
});
