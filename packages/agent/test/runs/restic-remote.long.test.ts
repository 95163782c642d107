/**
 * Restic repositories elsewhere, which the agent reads for restic: real servers, and the restic of
 * this host.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type S3Server, startS3Server } from "../../../../tests/e2e/harness/s3-server.ts";
import { requireRepository } from "../../src/engines/restic/open-repository.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { initRestic } from "./restic-repository.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

const { signal } = new AbortController();
const SECRET = "hush-hush";
const OF_REMOTES = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_DEFAULT_REGION",
  "RESTIC_CACERT",
  "RESTIC_REST_USERNAME",
  "RESTIC_REST_PASSWORD",
];
const before = Object.fromEntries(OF_REMOTES.map((name) => [name, process.env[name]]));
let place: TestPlace;
let s3: S3Server;
let rest: { readonly process: ChildProcess; readonly url: string };
let whole: string;
let repo: string;

beforeAll(async () => {
  place = await makeTestPlace();
  [whole, repo] = [join(place.dir, "whole"), join(place.dir, "repo")];
  process.env["TEST_RESTIC_PASSWORD"] = SECRET;
  const tree = join(place.dir, "tree");
  mkdirSync(tree);
  writeFileSync(join(tree, "random"), randomBytes(9 << 20));
  initRestic(whole, SECRET);
  execFileSync("restic", ["--quiet", "--no-cache", "backup", tree], {
    env: { ...process.env, RESTIC_REPOSITORY: whole, RESTIC_PASSWORD: SECRET },
    stdio: ["ignore", "ignore", "pipe"],
  });
  s3 = await startS3Server({ tls: true });
  rest = await serveRest();
  const [certificate, ofS3] = [join(place.dir, "cert.pem"), join(place.dir, "both.pem")];
  writeFileSync(ofS3, `${s3.certificate ?? ""}\n${readFileSync(certificate, "utf8")}`);
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: s3.settings.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.settings.secretAccessKey,
    AWS_DEFAULT_REGION: s3.settings.region,
    RESTIC_CACERT: ofS3,
    RESTIC_REST_USERNAME: "reader",
    RESTIC_REST_PASSWORD: "of-the-server",
  });
});

afterAll(async () => {
  for (const [name, value] of Object.entries(before))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  if (rest !== undefined && rest.process.exitCode === null) {
    const ended = once(rest.process, "exit");
    rest.process.kill();
    await ended;
  }
  await s3?.remove();
  await place?.remove();
});

/** A REST server of restic's protocol: rclone has one. */
async function serveRest(): Promise<typeof rest> {
  const [cert, key] = [join(place.dir, "cert.pem"), join(place.dir, "key.pem")];
  execFileSync(
    "openssl",
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${key} -out ${cert} -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1`.split(
      " ",
    ),
    { stdio: "ignore" },
  );
  const args = `serve restic --addr 127.0.0.1:0 --cert ${cert} --key ${key} --user reader --pass of-the-server ${repo}`;
  const server = spawn("rclone", args.split(" "), { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface({ input: server.stderr })) {
    const [, port] = /https:\/\/127\.0\.0\.1:([0-9]+)/.exec(line) ?? [];
    if (port === undefined) continue;
    server.stderr.resume();
    return { process: server, url: `https://127.0.0.1:${port}/` };
  }
  throw new Error("rclone ended before it served");
}

/** The repository as it is now, where each kind has it. */
async function publish(): Promise<void> {
  for (const path of readdirSync(repo, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue;
    const file = join(path.parentPath, path.name);
    const key = `some/where/${file.slice(repo.length + 1)}`;
    const { status } = await s3.send({ method: "PUT", key, body: readFileSync(file) });
    expect(status).toBe(200);
  }
}

beforeEach(() => {
  cpSync(whole, repo, { recursive: true, force: true });
  execFileSync("chmod", ["-R", "u+w", repo]);
});

const source = (repository: string): SourceConfigOf<"restic"> => ({
  slug: "archive",
  engine: "restic",
  sandbox: "process",
  checkTimeout_s: 60,
  checks: [
    { id: "random", query: `${join(place.dir, "tree", "random").slice(1)}`, expect: "bytes = 9437184" },
  ],
  repository,
  password: { kind: "env", name: "TEST_RESTIC_PASSWORD" },
  tags: [],
  host: null,
  file: null,
  max_age_s: null,
  as_agent: false,
});

const back = (of: SourceConfigOf<"restic">): Promise<MadeBackup> => backUp(place, of);

async function testIt(of: SourceConfigOf<"restic">, backup: MadeBackup): Promise<RestoreTestResult> {
  try {
    return await testBackup(place, of, backup);
  } finally {
    expect(readdirSync(place.scratch)).toEqual([]);
  }
}

const KINDS: readonly [kind: string, repository: () => string, spoil: () => void][] = [
  ["rest:", () => `rest:${rest.url}`, () => (process.env["RESTIC_REST_PASSWORD"] = "another")],
  [
    "s3:",
    () => `s3:${s3.settings.endpoint}/${s3.settings.bucket}/some/where`,
    () => (process.env["AWS_SECRET_ACCESS_KEY"] = "another"),
  ],
  ["rclone:", () => `rclone:${repo}`, () => (process.env["RCLONE_CONFIG"] = "/nowhere/at/all")],
];

describe.each(KINDS)("a repository %s", (kind, repository, spoil) => {
  test("is restored and proven without a network in the sandbox; a changed pack fails, and an unreachable repository gives no result", async () => {
    const of = source(repository());
    await publish();
    expect(await requireRepository(of.repository, signal)).toBe(of.repository);
    const backup = await back(of);
    const tested = await testIt(of, backup);
    expect(tested.reason).toBeUndefined();
    expect(tested).toMatchObject({ result: "passed", runtime: { isolation: "namespaces" } });

    const packs = execFileSync("find", [join(repo, "data"), "-type", "f", "-size", "+1000k"], {
      encoding: "utf8",
    });
    for (const pack of packs.trim().split("\n")) {
      const bytes = readFileSync(pack);
      bytes[1000] = (bytes[1000] ?? 0) ^ 1;
      writeFileSync(pack, bytes);
    }
    await publish();
    expect(await testIt(of, backup)).toMatchObject({ result: "failed" });

    const environment = { ...process.env };
    spoil();
    const spoilt = kind === "rclone:" ? source("rclone:nobody-made-it:x") : of;
    try {
      await expect(testIt(spoilt, backup)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
    } finally {
      process.env = environment;
    }
  });
});

test("a server with an untrusted certificate receives no password", async () => {
  const trusted = process.env["RESTIC_CACERT"];
  delete process.env["RESTIC_CACERT"];
  try {
    await expect(back(source(`rest:${rest.url}`))).rejects.toMatchObject({
      code: "ciphertext_unavailable",
      message: expect.stringContaining("certificate"),
    });
  } finally {
    process.env["RESTIC_CACERT"] = trusted;
  }
});

test("the error for a bucket without credentials in the environment, or without TLS, names what is missing", async () => {
  const key = process.env["AWS_ACCESS_KEY_ID"];
  delete process.env["AWS_ACCESS_KEY_ID"];
  try {
    await expect(back(source("s3:s3.amazonaws.com/bucket"))).rejects.toMatchObject({
      code: "connection_reference",
      message: expect.stringContaining("AWS_ACCESS_KEY_ID"),
    });
    await expect(back(source("s3:http://127.0.0.1:1/bucket"))).rejects.toMatchObject({
      code: "connection_reference",
    });
  } finally {
    process.env["AWS_ACCESS_KEY_ID"] = key;
  }
});
