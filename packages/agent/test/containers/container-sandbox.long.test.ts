import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { feed } from "../../src/processes/feed.ts";
import type { CheckConfig, SourceConfig } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { type ContainerRequest, openContainerPlace } from "../../src/sandboxes/container/container-place.ts";
import { findImage, type Image } from "../../src/sandboxes/container/image.ts";
import { findEngineApi } from "../../src/sandboxes/container/runtime-socket.ts";
import { findLeftovers, reapLeftovers } from "../../src/sandboxes/leftovers.ts";
import { CONTAINER_DEFAULTS, type ContainerSandboxConfig } from "../../src/config/sandbox-config.ts";
import { backUp, testBackup } from "../runs/back-and-test.ts";
import { makeTestPlace, type TestPlace } from "../runs/scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "../runs/source-postgres.ts";
import { IMAGE, type Podman, startPodman } from "./podman.ts";

const HOLDER = join(import.meta.dirname, "hold-container.ts");
const never = new AbortController().signal;
const CONTAINER: ContainerSandboxConfig = { ...CONTAINER_DEFAULTS, image: `${IMAGE}:{major}` };

let podman: Podman;
let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;
const hostBefore = process.env["DOCKER_HOST"];

beforeAll(async () => {
  podman = await startPodman("postgresql");
  process.env["DOCKER_HOST"] = `unix://${podman.socket}`;
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create table orders (id bigint generated always as identity primary key, note text);
    insert into orders (note) select repeat('secret note ', 20) || i from generate_series(1, 20000) i;
    create index on orders (note);
  `);
  backup = await writeEncryptedDump({
    source: server.source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    signal: never,
  });
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
  await podman?.stop();
  if (hostBefore === undefined) delete process.env["DOCKER_HOST"];
  else process.env["DOCKER_HOST"] = hostBefore;
});
afterEach(() => {
  expect(podman.everything()).toEqual([]);
});

function testIn(
  sandbox: ContainerSandboxConfig,
  more: { checks?: CheckConfig[]; metadata?: Record<string, unknown>; signal?: AbortSignal } = {},
): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source: { ...server.source, sandbox, checks: more.checks ?? [] },
    ciphertext: { path: backup.path },
    sha256: backup.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: { ...backup.sourceMetadata, ...more.metadata },
    signal: more.signal ?? never,
  });
}

describe.each(["disk", "memory"] as const)("a restore test with its data in %s", (storage) => {
  test("passes, and its receipt can name the image", async () => {
    const tested = await testIn(
      { ...CONTAINER, storage },
      { checks: [{ id: "newest", query: "select max(id) as n from orders", expect: "n = 20000" }] },
    );
    expect(tested.reason).toBeUndefined();
    expect(tested.result).toBe("passed");
    const digest = podman.run("image", "inspect", "--format", "{{.Digest}}", `${IMAGE}:15`).trim();
    expect(tested.runtime).toEqual({
      kind: "container",
      engine: "postgresql",
      engine_version: expect.stringMatching(/^15\.[0-9]+$/),
      image_digest: digest,
    });
    expect(tested.checks.map(({ id }) => id)).toEqual([
      "inferred:tables",
      "inferred:rows:public.orders",
      "newest",
      "inferred:kinds",
      "inferred:schema",
      "inferred:content",
      "inferred:objects",
      "inferred:privileges",
      "inferred:unrestored",
      "inferred:indexes",
    ]);
    expect(tested.phases.restore_ms).toBeGreaterThan(0);
  });
});

test("data that are wrong fail the test, as they do anywhere", async () => {
  const tested = await testIn(CONTAINER, {
    checks: [{ id: "more", query: "select count(*) as n from orders", expect: "n > 20000" }],
  });
  expect(tested).toMatchObject({ result: "failed", reason: expect.stringContaining("check more failed") });
});

describe("names the missing part", () => {
  const elsewhere = async (host: string, work: () => Promise<unknown>): Promise<void> => {
    process.env["DOCKER_HOST"] = host;
    try {
      await work();
    } finally {
      process.env["DOCKER_HOST"] = `unix://${podman.socket}`;
    }
  };

  test("a runtime", async () => {
    await elsewhere("unix:///nowhere/docker.sock", () =>
      expect(testIn(CONTAINER)).rejects.toMatchObject({
        code: "tool_missing",
        message: expect.stringMatching(
          /^no container runtime answers: \/nowhere\/docker.sock does not exist\. install one/,
        ),
      }),
    );
    await elsewhere("tcp://127.0.0.1:2375", () =>
      expect(testIn(CONTAINER)).rejects.toMatchObject({
        code: "tool_missing",
        message: expect.stringContaining("unix socket"),
      }),
    );
  });

  test("an image", async () => {
    await expect(testIn({ ...CONTAINER, image: "localhost/no-such-image:{major}" })).rejects.toMatchObject({
      code: "tool_missing",
      message: expect.stringMatching(
        /localhost\/no-such-image:15 is not on this host: pull it \(podman pull/,
      ),
    });
  });

  test("an image of the backup's major version", async () => {
    podman.run("tag", `${IMAGE}:15`, `${IMAGE}:16`);
    await expect(testIn(CONTAINER, { metadata: { engine_version: "16.2" } })).rejects.toMatchObject({
      code: "tool_too_old",
      message: expect.stringMatching(/postgres:16 has PostgreSQL 15\.[0-9]+, but the backup is of 16/),
    });
  });

  test("an extension, in our backups and in dumps of other programs", async () => {
    server.sql("create database town template template0");
    server.sql(`\\connect town
      create extension postgis; create table places (at geometry(Point, 4326)); insert into places values ('srid=4326;point(1 2)')`);
    const url = server.url(server.environment["PGUSER"] ?? "", "", "town");
    const town = { ...server.source, connection: { kind: "url", url }, sandbox: CONTAINER } as const;
    await expect(testBackup(place, town, await backUp(place, town))).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringMatching(
        /the backup needs postgis, which .* does not have: install the extension/,
      ),
    });
    for (const format of ["-Fc", "-Fp"]) {
      const path = join(place.dir, `town${format}`);
      mkdirSync(path);
      execFileSync(join(server.bin, "pg_dump"), [format, `--file=${join(path, "a.dump")}`, "town"], {
        env: { ...process.env, ...server.environment },
      });
      const dumps: SourceConfig = {
        slug: "town",
        engine: "dumps",
        sandbox: { ...CONTAINER, image: `${IMAGE}:15` },
        checkTimeout_s: 60,
        checks: [],
        place: { kind: "directory", path },
        pattern: "*",
        min_age_s: 0,
        max_age_s: null,
        min_bytes: 1,
      };
      await expect(testBackup(place, dumps, await backUp(place, dumps)), format).rejects.toMatchObject({
        code: "sandbox_lacks",
        message: expect.stringContaining("needs at EXTENSION - postgis (SQLSTATE 0A000)"),
      });
    }
  });

  test("room", async () => {
    server.sql("create table large as select repeat(md5(i::text), 60) as t from generate_series(1, 60000) i");
    const large = await writeEncryptedDump({
      source: server.source,
      recipients: [place.recipient],
      blobsDir: place.blobs,
      signal: never,
    });
    server.sql("drop table large");
    const full = restoreAndCheck({
      source: { ...server.source, sandbox: { ...CONTAINER, storage: "memory", memory_mb: 256 } },
      ciphertext: { path: large.path },
      sha256: large.sha256,
      identities: [place.identity],
      scratchDir: place.scratch,
      backupMetadata: large.sourceMetadata,
      signal: never,
    });
    await expect(full).rejects.toMatchObject({ name: "RunError", code: "disk_full" });
  });
});

test("an abort while it restores leaves nothing", async () => {
  const controller = new AbortController();
  const tested = restoreAndCheck({
    source: { ...server.source, sandbox: CONTAINER },
    ciphertext: { path: backup.path },
    sha256: backup.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: backup.sourceMetadata,
    signal: controller.signal,
    onProgress: ({ phase }) => {
      if (phase === "restore") controller.abort();
    },
  });
  await expect(tested).rejects.toMatchObject({ code: "interrupted" });
});

describe("the container", () => {
  let image: Image;
  const open = async (more: Partial<ContainerRequest["limits"]> = {}) => {
    const api = await findEngineApi();
    image = await findImage(api, `${IMAGE}:15`);
    return openContainerPlace({
      api,
      imageId: image.id,
      user: "postgres",
      limits: { ...CONTAINER_DEFAULTS, ...more },
      signal: never,
    });
  };

  test("has no network, no capability and no host files, and can write only to disposable places", async () => {
    const container = await open({ memory_mb: 300, pids: 40 });
    try {
      const script =
        "id -u; cat /proc/self/status; ls /sys/class/net; touch /usr/x /etc/x /x; touch here /tmp/x /attestore/run/x && echo wrote";
      const child = await container.start({ command: "/bin/sh", args: ["-c", script], signal: never });
      child.stdin.end();
      const said = await text(child.stdout);
      expect(said).toMatch(/^999\n/);
      for (const set of ["Inh", "Prm", "Eff", "Bnd", "Amb"])
        expect(said).toMatch(`Cap${set}:\t0000000000000000\n`);
      expect(said).toMatch(/^NoNewPrivs:\t1$/m);
      expect(said).toMatch(/^lo\nwrote\n$/m);
      expect((await child.exited).stderr.match(/Read-only file system/g)).toHaveLength(3);
      const name = podman.everything()[0] ?? "";
      const inspected = JSON.parse(podman.run("inspect", name)) as [
        { HostConfig: Record<string, unknown>; Mounts: { Type: string; Destination: string }[] },
      ];
      expect(inspected[0].HostConfig).toMatchObject({
        AutoRemove: true,
        Memory: 300 << 20,
        NanoCpus: 2e9,
        NetworkMode: "none",
        PidsLimit: 40,
        Privileged: false,
        ReadonlyRootfs: true,
      });
      expect(inspected[0].Mounts.filter(({ Type }) => Type !== "volume")).toEqual([]);
    } finally {
      await container.close();
    }
  });

  test("carries any bytes in and out, and gives exit codes", async () => {
    const container = await open();
    try {
      const bytes = Buffer.alloc(20_000_000, "0123456789abcdef\0\n\xff", "latin1");
      const child = await container.start({
        command: "/bin/sh",
        args: ["-c", "tee /dev/stderr; exit 7"],
        signal: never,
      });
      child.stdin.end(bytes);
      const pieces: Buffer[] = [];
      for await (const piece of child.stdout as AsyncIterable<Buffer>) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
      expect(await child.exited).toMatchObject({ code: 7, signal: null });
    } finally {
      await container.close();
    }
  });

  test("of a program that ends while it is fed, its last words and its exit code come through", async () => {
    const container = await open();
    async function* much(): AsyncGenerator<Buffer> {
      const piece = Buffer.alloc(1 << 20, "x");
      for (let sent = 0; sent < 20; sent++) yield await Promise.resolve(piece);
    }
    try {
      const child = await container.start({
        command: "/bin/sh",
        args: ["-c", "echo last words >&2; exit 3"],
        isFed: true,
        signal: never,
      });
      child.stdout.resume();
      await feed(child.stdin, much());
      expect(await child.exited).toEqual({ code: 3, signal: null, stderr: "last words\n" });
    } finally {
      await container.close();
    }
  });

  test("ends at its time limit by itself", async () => {
    const container = await open({ timeLimit_s: 2 });
    try {
      const child = await container.start({ command: "/bin/sleep", args: ["1000"], signal: never });
      expect(await child.exited).toMatchObject({ code: null, signal: "SIGKILL" });
      await expect(container.start({ command: "/bin/true", args: [], signal: never })).rejects.toMatchObject({
        code: "sandbox_failed",
        message: expect.stringContaining("time_limit_s"),
      });
    } finally {
      await container.close();
    }
  });
});

test("after kill -9 of its holder the container is gone at once, and its volume with the next run", async () => {
  const holder = spawn(process.execPath, ["--no-warnings", HOLDER, `${IMAGE}:15`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(createInterface({ input: holder.stdout }), "line");
  const held = podman.everything();
  expect(held).toHaveLength(2);
  const scratch = await mkdtemp(join(tmpdir(), "leftovers-"));
  // What belongs to a process that lives is nobody's leftover.
  expect((await reapLeftovers(scratch)).filter(({ kind }) => kind !== "directory")).toEqual([]);
  expect(podman.everything()).toEqual(held);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await expect.poll(() => podman.everything()).toHaveLength(1);
  const volume = { kind: "volume", name: held[1], problem: null };
  expect(await findLeftovers(scratch)).toContainEqual(volume);
  expect((await testIn(CONTAINER)).result).toBe("passed");
  expect(await findLeftovers(scratch)).not.toContainEqual(volume);
  await rm(scratch, { recursive: true });
});

test("a container that its runtime kept although its process is gone is reaped, and others' are not", async () => {
  podman.run(
    "run",
    "--detach",
    "--network",
    "none",
    "--name",
    "somebody-elses",
    `${IMAGE}:15`,
    "sleep",
    "1000",
  );
  podman.run(
    "run",
    "--detach",
    "--network",
    "none",
    "--stop-timeout",
    "0",
    "--label",
    "dev.attestore.sandbox=1-2-00000000-3",
    `${IMAGE}:15`,
    "sleep",
    "1000",
  );
  const reaped = await reapLeftovers(place.scratch);
  expect(reaped.filter(({ kind }) => kind === "container")).toHaveLength(1);
  expect(podman.everything()).toEqual(["somebody-elses"]);
  podman.run("rm", "--force", "--time", "0", "somebody-elses");
});
