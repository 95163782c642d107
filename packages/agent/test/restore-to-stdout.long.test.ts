import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { runCli } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

/** More than a pipe and what is decrypted ahead take. It does not compress. */
const CONTENT = randomBytes(16_000_000);
const WARNING = "do not use it";

let service: TestService;
let root: TestRoot;
let ciphertext: Buffer;
/** What a restore to a file gives. */
let dump: Buffer;

const at = (name: string): string => join(root.layout.root, name);
const env = (): Record<string, string> => ({ ATTESTORE_HOME: root.layout.root });

beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  papers:\n    engine: files\n    path: papers\n");
  mkdirSync(at("papers"));
  writeFileSync(at("papers/large"), CONTENT);
  const made = await runCli(["backup", "--json"], { env: env() });
  expect(made.code, made.stderr).toBe(0);
  const { backup_id } = JSON.parse(made.stdout) as { backup_id: string };
  ciphertext = Buffer.from(service.objects.get(service.objectKey(backup_id)) ?? "");
  writeFileSync(at("backup.age"), ciphertext);
  const restored = await runCli(["restore", "--output", at("restored")], { env: env() });
  expect(restored.code, restored.stderr).toBe(0);
  dump = readFileSync(at("restored"));
  expect(dump.includes(CONTENT.subarray(0, 1_000))).toBe(true);
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

/** What a shell gives that runs `attestore`. */
async function shell(script: string): Promise<{ code: unknown; stdout: Buffer; stderr: string }> {
  const child = spawn("bash", ["-c", `attestore() { "$NODE" "$PROGRAM" "$@"; }\n${script}`], {
    cwd: root.layout.root,
    env: {
      PATH: process.env["PATH"],
      NODE: process.execPath,
      PROGRAM: inject("programs").attestore,
      ...env(),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = gather(child);
  const [code] = (await once(child, "close")) as unknown[];
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}

function gather({ stdout, stderr }: ChildProcess): { stdout: Buffer[]; stderr: Buffer[] } {
  const of = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  stdout?.on("data", (piece: Buffer) => of.stdout.push(piece));
  stderr?.on("data", (piece: Buffer) => of.stderr.push(piece));
  return of;
}

const LOCAL = "attestore restore --file backup.age --identity keys/age.key --output -";

it("restore --output - writes a stored backup to stdout, and nothing else", async () => {
  const piped = await shell("attestore restore --output -");
  expect(piped.code, piped.stderr).toBe(0);
  expect(piped.stdout.equals(dump)).toBe(true);
  expect(piped.stderr).toContain("its digest matches its receipt");
  expect(piped.stderr).not.toContain(WARNING);
  expect(readdirSync(root.layout.scratch)).toEqual([]);
});

it("restore --output - writes a local ciphertext to a pipe, a file and the end of a file", async () => {
  const done = await shell(
    `set -e -o pipefail\n${LOCAL} | cat > piped\n${LOCAL} > file\nprintf before > longer\n${LOCAL} >> longer`,
  );
  expect(done.code, done.stderr).toBe(0);
  expect(readFileSync(at("piped")).equals(dump)).toBe(true);
  expect(readFileSync(at("file")).equals(dump)).toBe(true);
  expect(readFileSync(at("longer")).equals(Buffer.concat([Buffer.from("before"), dump]))).toBe(true);
});

it("a local ciphertext that was cut short or changed exits with 1, and says not to use the output", async () => {
  truncateSync(at("backup.age"), ciphertext.length - 20);
  const cut = await shell(LOCAL);
  expect(cut.code, cut.stderr).toBe(1);
  expect(cut.stderr).toContain(WARNING);
  expect(cut.stderr).toContain("the backup is damaged");
  expect(cut.stdout.length).toBeGreaterThan(0);
  expect(cut.stdout.equals(dump.subarray(0, cut.stdout.length))).toBe(true);

  const changed = Buffer.from(ciphertext);
  const last = changed.length - 1;
  changed[last] = (changed[last] ?? 0) ^ 1;
  writeFileSync(at("backup.age"), changed);
  const tampered = await shell(LOCAL);
  expect(tampered.code, tampered.stderr).toBe(1);
  expect(tampered.stderr).toContain(WARNING);
});

it("a stored backup that was changed writes nothing at all", async () => {
  for (const object of service.objects.values()) {
    const last = object.length - 1;
    object[last] = (object[last] ?? 0) ^ 1;
  }
  const damaged = await shell("attestore restore --output -");
  expect(damaged.code, damaged.stderr).toBe(1);
  expect(damaged.stdout.length).toBe(0);
  expect(damaged.stderr).toContain("so nothing was written");
  expect(damaged.stderr).not.toContain(WARNING);
});

it("a full disk and a reader that stops early end it with 2", async () => {
  for (const script of [
    `${LOCAL} > /dev/full`,
    `${LOCAL} | head -c 1 > /dev/null; exit "\${PIPESTATUS[0]}"`,
  ]) {
    const failed = await shell(script);
    expect(failed.code, failed.stderr).toBe(2);
    expect(failed.stderr).toContain(WARNING);
    expect(failed.stderr).not.toContain("This is a bug");
  }
  // A file that may not grow takes the first part of a piece.
  const limited = await shell(`trap '' XFSZ; ulimit -f 1000; ${LOCAL} > limited`);
  expect(limited.code, limited.stderr).toBe(2);
  expect(limited.stderr).toContain(WARNING);
});

it("an interruption ends it although nobody reads the output", async () => {
  const child = spawn(process.execPath, [inject("programs").attestore, "restore", "--output", "-"], {
    env: { PATH: process.env["PATH"], ...env() },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = gather(child);
  await once(child.stdout, "data");
  child.stdout.pause();
  child.kill("SIGTERM");
  const [[code]] = await Promise.all([once(child, "exit"), once(child.stderr, "end")]);
  child.stdout.destroy();
  expect(code).toBe(130);
  expect(Buffer.concat(said.stderr).toString()).toContain(WARNING);
  expect(readdirSync(root.layout.scratch)).toEqual([]);
});

it("restore --output - refuses a terminal and --json", async () => {
  const typed = spawnSync(
    "script",
    ["--quiet", "--return", "--command", `"$NODE" "$PROGRAM" ${LOCAL.slice(10)}`, "typed"],
    {
      cwd: root.layout.root,
      env: {
        PATH: process.env["PATH"],
        NODE: process.execPath,
        PROGRAM: inject("programs").attestore,
        ...env(),
      },
      encoding: "utf8",
    },
  );
  expect(typed.status, typed.stdout).toBe(2);
  expect(typed.stdout).toContain("a dump is not written to a terminal");
  const inJson = await shell(`${LOCAL} --json`);
  expect(inJson.code).toBe(2);
  expect(JSON.parse(inJson.stdout.toString())).toMatchObject({ error: "usage" });
});
