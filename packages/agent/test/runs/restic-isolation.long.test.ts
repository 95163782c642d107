/**
 * What a restic that is in other hands can do while it reads a repository, and what a repository
 * can do to its reader.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { initRestic } from "./restic-repository.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

const SECRET = "hush-hush";
const before = { PATH: process.env["PATH"], AWS: process.env["AWS_SECRET_ACCESS_KEY"] };
let place: TestPlace;
let repo: string;
let listener: Server;
let port: number;

/**
 * Restic in other hands: what it can do it tells by the repository's id, a digit for each. Then it
 * serves the real one's answers, so that the run goes on.
 */
const standIn = (): string => `#!/bin/sh
case " $* " in *" cat config "*) ;; *) exec /usr/bin/restic "$@" ;; esac
found=abc
tell() { if eval "$1" >/dev/null 2>&1; then found="\${found}1"; else found="\${found}0"; fi; }
tell 'grep -q "a secret" ${place.dir}/keys/agent.key'
tell 'env | grep -q very-secret'
tell 'python3 -c "import socket; socket.create_connection((\\"127.0.0.1\\", ${port}), 5)"'
tell 'ls ${repo}/config'
tell 'touch ${place.dir}/left'
tell 'grep -rq ${SECRET} /proc/[0-9]*/cmdline /proc/self/environ'
/usr/bin/restic "$@" | sed "s/\\"id\\": \\"[0-9a-f]*\\"/\\"id\\": \\"$(printf '%s%0*d' $found $((64 - \${#found})) 0)\\"/"
`;

beforeAll(async () => {
  place = await makeTestPlace();
  repo = join(place.dir, "repo");
  mkdirSync(join(place.dir, "keys"));
  writeFileSync(join(place.dir, "keys", "agent.key"), "a secret", { mode: 0o600 });
  listener = createServer((socket) => socket.on("error", () => undefined).end("reached")).listen(
    0,
    "127.0.0.1",
  );
  await once(listener, "listening");
  port = (listener.address() as { port: number }).port;
  mkdirSync(join(place.dir, "bin"));
  writeFileSync(join(place.dir, "bin", "restic"), standIn());
  chmodSync(join(place.dir, "bin", "restic"), 0o755);
  process.env["TEST_RESTIC_PASSWORD"] = SECRET;
  process.env["AWS_SECRET_ACCESS_KEY"] = "very-secret";
  const tree = join(place.dir, "tree");
  mkdirSync(tree);
  writeFileSync(join(tree, "random"), randomBytes(1 << 20));
  initRestic(repo, SECRET);
  restic("backup", tree);
});

afterAll(async () => {
  listener?.close();
  if (before.AWS === undefined) delete process.env["AWS_SECRET_ACCESS_KEY"];
  else process.env["AWS_SECRET_ACCESS_KEY"] = before.AWS;
  await place?.remove();
});

function restic(...args: string[]): void {
  execFileSync("/usr/bin/restic", ["--quiet", "--no-cache", ...args], {
    env: { ...process.env, RESTIC_REPOSITORY: repo, RESTIC_PASSWORD: SECRET },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

const source = (more: Partial<SourceConfigOf<"restic">> = {}): SourceConfigOf<"restic"> => ({
  slug: "archive",
  engine: "restic",
  sandbox: "process",
  checkTimeout_s: 60,
  checks: [],
  repository: repo,
  password: { kind: "env", name: "TEST_RESTIC_PASSWORD" },
  tags: [],
  host: null,
  file: null,
  max_age_s: null,
  as_agent: false,
  ...more,
});

const back = (of = source()): Promise<MadeBackup> => backUp(place, of);

async function testIt(of: SourceConfigOf<"restic">, backup: MadeBackup): Promise<RestoreTestResult> {
  try {
    return await testBackup(place, of, backup);
  } finally {
    expect(readdirSync(place.scratch)).toEqual([]);
  }
}

async function withStandIn<Result>(use: () => Promise<Result>): Promise<Result> {
  process.env["PATH"] = `${join(place.dir, "bin")}:${before.PATH}`;
  try {
    return await use();
  } finally {
    process.env["PATH"] = before.PATH;
    rmSync(join(place.dir, "left"), { force: true });
  }
}

/**
 * What of its six attempts succeeded: key, environment, network, repository, writing, the password
 * on show.
 */
const told = ({ sourceMetadata }: MadeBackup): string =>
  String((sourceMetadata["original"] as { repository_id?: unknown }).repository_id).slice(0, 9);

test("as the agent, which only config.yaml can allow, a malicious restic reads files and connects out, and the receipt says so", async () => {
  const asAgent = source({ as_agent: true });
  const backup = await withStandIn(() => back(asAgent));
  expect(told(backup)).toBe("abc111111");
  const tested = await withStandIn(() => testIt(asAgent, backup));
  expect(tested.reason).toBeUndefined();
  expect(tested).toMatchObject({ result: "passed", runtime: { isolation: "none" } });
});

test("in its sandbox it reaches no key, no environment, no network and no repository's files, at backups and at restore tests", async () => {
  const backup = await withStandIn(() => back());
  expect(told(backup)).toBe("abc000000");
  // The test demands the id that the backup told: it ran there, and could do as little.
  const tested = await withStandIn(() => testIt(source(), backup));
  expect(tested.reason).toBeUndefined();
  expect(tested).toMatchObject({ result: "passed", runtime: { isolation: "namespaces" } });
});

/** Something else in a file's place, for one restore test. */
async function inPlaceOf(path: string, make: (away: string) => void, backup: MadeBackup): Promise<string> {
  const away = join(place.dir, "away");
  renameSync(path, away);
  try {
    make(away);
    return await outcome(backup);
  } finally {
    rmSync(path, { force: true });
    renameSync(away, path);
  }
}

async function outcome(backup: MadeBackup): Promise<string> {
  try {
    const { result, reason } = await testIt(source(), backup);
    return `${result}: ${reason}`;
  } catch (error) {
    return `could not run: ${(error as Error).message}`;
  }
}

test("links in a repository are not followed, even if they lead to the right place", async () => {
  const backup = await back();
  const linked = (path: string): Promise<string> =>
    inPlaceOf(path, (away) => symlinkSync(away, path), backup);
  const [index = ""] = readdirSync(join(repo, "index"));
  expect(await linked(join(repo, "index", index))).toMatch(/^(failed|could not run): /);
  expect(await linked(largestPack())).toMatch(/^could not run: .*a link in it/);
  expect(await linked(join(repo, "data"))).toMatch(/^could not run: .*a link in it/);
});

test("a repository of pipes, an endless file and invalid names does not hang it", async () => {
  const backup = await back();
  const pack = largestPack();
  expect(await inPlaceOf(pack, () => execFileSync("mkfifo", [pack]), backup)).toMatch(
    /^failed: .*is not a regular file/,
  );
  const endless = (): void => {
    writeFileSync(pack, "");
    truncateSync(pack, 15 * 2 ** 40);
  };
  expect(await inPlaceOf(pack, endless, backup)).toMatch(/^failed: .*more than restic ever writes/);
  const odd = ["..\\..\\keys", "%2e%2e", "a\nb", "x".repeat(200)].map((name) =>
    join(repo, "snapshots", name),
  );
  for (const path of odd) writeFileSync(path, "{}");
  expect(await outcome(backup)).toBe("passed: undefined");
  for (const path of odd) rmSync(path);
});

function largestPack(): string {
  const args = [join(repo, "data"), "-type", "f", "-size", "+100k"];
  const found = execFileSync("find", args, { encoding: "utf8" }).trim();
  expect(found).not.toBe("");
  return found.split("\n")[0] ?? "";
}

test("a repository that only restic itself can read is refused with the alternatives, and is not contacted", async () => {
  for (const repository of [
    "sftp:user@host:/srv/repo",
    "azure:box:/",
    "gs:bucket:/",
    "b2:bucket:x",
    "swift:box:/x",
  ])
    await expect(back(source({ repository }))).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringMatching(/rclone:REMOTE:PATH.*as_agent: true/),
    });
  expect(existsSync(place.blobs) ? readdirSync(place.blobs).length : 0).toBeGreaterThan(0);
  expect(readFileSync(join(place.dir, "keys", "agent.key"), "utf8")).toBe("a secret");
});
