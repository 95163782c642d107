import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import { type Finished, runCli, startCli } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

/** `restore` of a backup that its store or the way from it damages: once, twice, each time. */

let service: TestService;
let root: TestRoot;
let key: string;
let stored: Buffer;
let dump: Buffer;
/** What the store has for each reading; the last again and again. */
let answers: readonly Buffer[];
let readings: number;

const at = (name: string): string => join(root.layout.root, name);
const env = () => ({ env: { ATTESTORE_HOME: root.layout.root }, cwd: root.layout.root });
const cli = (...args: string[]): Promise<Finished> => runCli(args, env());
const restore = (...args: string[]): Promise<Finished> =>
  cli("restore", "--output", at("out/papers.tar"), ...args);

/** Byte by byte. */
const toStdout = (...args: string[]) =>
  promisify(execFile)(process.execPath, [inject("programs").attestore, ...args, "--output", "-"], {
    env: { ...process.env, ...env().env },
    encoding: "buffer",
    maxBuffer: 1 << 30,
  });

beforeAll(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  papers:\n    engine: files\n    path: papers\n");
  mkdirSync(at("papers"));
  writeFileSync(at("papers/large"), randomBytes(16_000_000));
  expect((await cli("backup")).code).toBe(0);
  const [first = expect.unreachable()] = service.objects;
  [key, stored] = first;
  expect((await cli("restore", "--output", at("whole"))).code).toBe(0);
  dump = readFileSync(at("whole"));
});
afterAll(async () => {
  root.remove();
  await service.stop();
});
beforeEach(() => {
  rmSync(at("out"), { recursive: true, force: true });
  mkdirSync(at("out"));
  comesBack(stored);
});

function comesBack(...bytes: readonly Buffer[]): void {
  [answers, readings] = [bytes, 0];
  service.interfere = ({ route }) => {
    if (route === `GET /objects/${key}`)
      service.objects.set(key, answers[Math.min(readings++, answers.length - 1)] ?? stored);
    return undefined;
  };
}

function flipped(at: number): Buffer {
  const other = Buffer.from(stored);
  other[at]! ^= 1;
  return other;
}

const middle = (): Buffer => flipped(stored.length >> 1);
const left = (): string[] => [...readdirSync(at("out")), ...readdirSync(root.layout.scratch)];

it("a backup that comes back damaged once is downloaded again, and restored whole", async () => {
  comesBack(middle(), stored);
  const done = await restore();
  expect(done.code, done.stderr).toBe(0);
  expect(readings).toBe(2);
  expect(readFileSync(at("out/papers.tar")).equals(dump)).toBe(true);
  expect(left()).toEqual(["papers.tar"]);
  expect(done.stderr).toMatch(/^! the downloaded backup is damaged \(.*\)\. It is downloaded a second time/m);
  expect(done.stderr).toContain("the store or the network gave other bytes the first time");
  comesBack(stored);
  const once = await restore("--output", at("out/other.tar"), "--json");
  expect([once.code, readings, once.stderr]).toEqual([0, 1, ""]);
});

it("one that is damaged in the same way both times is itself damaged, and nothing is written", async () => {
  comesBack(middle());
  const done = await restore("--json");
  expect(done.code, done.stderr).toBe(1);
  expect(readings).toBe(2);
  expect(left()).toEqual([]);
  expect(done.stderr).toContain("✗ the backup is damaged, so nothing was written");
  expect(done.stderr).toContain("was the same both times, so the stored backup itself is damaged");
  expect(JSON.parse(done.stdout)).toMatchObject({ error: "digest_mismatch" });
});

it("one that is damaged in another way each time is not said to be damaged itself", async () => {
  comesBack(middle(), stored.subarray(0, stored.length - 1000));
  const done = await restore();
  expect(done.code, done.stderr).toBe(1);
  expect(left()).toEqual([]);
  expect(done.stderr).toContain("✗ the backup came back damaged twice, so nothing was written");
  expect(done.stderr).toContain("the store, the network or this host's memory changes bytes");
  expect(done.stderr).not.toContain("the stored backup itself");
});

it("a damaged header is not taken for a backup of another identity", async () => {
  const header = flipped(stored.indexOf("\n", stored.indexOf("-> X25519")) + 3);
  comesBack(header, stored);
  const done = await restore();
  expect(done.code, done.stderr).toBe(0);
  expect(readFileSync(at("out/papers.tar")).equals(dump)).toBe(true);
  comesBack(header);
  const damaged = await restore("--output", at("out/other.tar"));
  expect(damaged.code, damaged.stderr).toBe(1);
  expect(damaged.stderr).not.toContain("identity");
  expect(damaged.stderr).toContain("the stored backup itself is damaged");
});

it("a restore to stdout is begun again only while nothing was given away", async () => {
  comesBack(middle(), stored);
  const done = await toStdout("restore");
  expect([readings, done.stdout.equals(dump)]).toEqual([2, true]);
  expect(done.stderr.toString()).toContain("the second download was right");

  writeFileSync(at("backup.age"), flipped(stored.length - 1));
  const given = await cli("restore", "--file", "backup.age", "--output", "-");
  expect(given.code, given.stderr).toBe(1);
  expect(given.stdout).not.toBe("");
  expect(given.stderr).toContain("do not use it");
  expect(given.stderr).toContain("It was not read a second time");
});

it("a damaged file is read twice where it is", async () => {
  writeFileSync(at("backup.age"), middle());
  const done = await restore("--file", "backup.age");
  expect(done.code, done.stderr).toBe(1);
  expect(done.stderr).toContain("The damage was the same both times, so the file itself is damaged");
  expect(left()).toEqual([]);
});

it("kill -9 between the two readings leaves nothing that looks whole, and the next restore is right", async () => {
  comesBack(middle());
  const count = service.interfere;
  const second = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<undefined>();
  service.interfere = (call) => {
    void count(call);
    if (readings < 2) return undefined;
    second.resolve();
    return killed.promise;
  };
  const running = startCli(["restore", "--output", at("out/papers.tar")], env());
  await second.promise;
  running.process.kill("SIGKILL");
  await running.finished;
  expect(readdirSync(at("out"))).toEqual([]);
  killed.resolve(undefined);
  comesBack(stored);
  const next = await restore();
  expect(next.code, next.stderr).toBe(0);
  expect(left()).toEqual(["papers.tar"]);
  expect(existsSync(at("out/papers.tar"))).toBe(true);
});

it("a second download that fails says why, after it was said why there is one", async () => {
  comesBack(middle());
  const count = service.interfere;
  service.interfere = (call) => {
    void count(call);
    return readings < 2 ? undefined : { status: 403, body: "" };
  };
  const done = await restore();
  expect(done.code, done.stderr).toBe(2);
  expect(left()).toEqual([]);
  expect(done.stderr).toMatch(/is damaged \(.*\)\. It is downloaded a second time[^]*403/);
});
