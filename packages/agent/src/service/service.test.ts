import { createHash, randomBytes } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { SmallDisk } from "../../../host/test/small-disk.ts";
import { makeCertificates } from "../../test/service/certificates.ts";
import { failure, TestService } from "../../test/service/test-service.ts";
import { backoffDelay, LONGEST_WAIT_MS } from "../transport/backoff.ts";
import { fetchPinnedCertificate } from "../transport/pin-certificate.ts";
import { openService, type Service, type ServiceOptions } from "./service.ts";

let fake: TestService;
let directory: string;
const signal = new AbortController().signal;

beforeAll(async () => {
  fake = await TestService.start();
  directory = mkdtempSync(join(tmpdir(), "attestore-service-"));
});
afterAll(async () => {
  await fake.stop();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  fake.interfere = () => undefined;
  fake.calls.length = 0;
});

async function withService<Result>(
  use: (service: Service) => Promise<Result>,
  changes: Partial<ServiceOptions> = {},
): Promise<Result> {
  const service = openService({
    url: new URL(fake.url),
    pinnedCa: fake.certificates.ca,
    token: fake.token,
    backoff: { tries: 3, first_ms: 1, longest_ms: 2_000 },
    ...changes,
  });
  try {
    return await use(service);
  } finally {
    service.close();
  }
}

const beat = {
  agent_version: "1",
  hostname: "h",
  platform: "p",
  uptime_s: 1,
  sources: [],
  acks: [],
};
const heartbeat = (service: Service) => service.heartbeat(beat, { signal });
const event = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: {} } as const;
const submitEvent = (service: Service) => service.submitEvent(event, { signal });

it("trusts the pinned CA, and nothing else", async () => {
  const { response } = await withService(heartbeat);
  expect(response.next_interval_s).toBe(1);
  const stranger = makeCertificates();
  await expect(withService(heartbeat, { pinnedCa: stranger.ca })).rejects.toMatchObject({
    code: "untrusted",
  });
  await expect(withService(heartbeat, { pinnedCa: null })).rejects.toMatchObject({ code: "untrusted" });
});

it("an error about an expired or future certificate asks for the clock, not for another CA", async () => {
  const ended = await TestService.start(makeCertificates(-1));
  try {
    const failed = withService(heartbeat, { url: new URL(ended.url), pinnedCa: ended.certificates.ca });
    await expect(failed).rejects.toMatchObject({
      code: "untrusted",
      message: expect.stringMatching(/expired.*clock/s),
    });
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining("ca_file") });
  } finally {
    await ended.stop();
  }
});

it("a server's own certificate can be pinned, by its fingerprint", async () => {
  const url = new URL(fake.url);
  const [leaf = ""] = /-----BEGIN[^]*?-----END CERTIFICATE-----\n/.exec(fake.certificates.cert) ?? [];
  const der = Buffer.from(leaf.replace(/-----.*-----/g, ""), "base64");
  const fingerprint = createHash("sha256").update(der).digest("hex");
  const pinned = await fetchPinnedCertificate(url, fingerprint, signal);
  expect(pinned).toBe(leaf);
  await expect(withService(heartbeat, { pinnedCa: pinned })).resolves.toBeDefined();
  await expect(fetchPinnedCertificate(url, "0".repeat(64), signal)).rejects.toMatchObject({ code: "usage" });
  await expect(fetchPinnedCertificate(url, "abc", signal)).rejects.toMatchObject({ code: "usage" });
});

it("a service that speaks only TLS 1.2 is refused", async () => {
  const { cert, key, ca } = fake.certificates;
  const old = createServer({ cert, key, maxVersion: "TLSv1.2" });
  old.listen(0, "localhost");
  await once(old, "listening");
  const url = new URL(`https://localhost:${(old.address() as AddressInfo).port}`);
  await expect(withService(heartbeat, { url, pinnedCa: ca })).rejects.toMatchObject({ code: "untrusted" });
  old.close();
});

it("repeats a call under one Idempotency-Key while its failure may pass", async () => {
  let failures = 2;
  fake.interfere = () =>
    failures-- > 0 ? (failures === 1 ? "cut" : failure(503, "unavailable", "soon")) : undefined;
  await withService(submitEvent);
  expect(fake.calls).toHaveLength(3);
  expect(new Set(fake.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  expect(fake.calls[0]?.idempotencyKey).toMatch(/^[0-9a-f]{8}-/);
});

it("a heartbeat is sent without an Idempotency-Key", async () => {
  await withService(heartbeat);
  expect(fake.calls[0]?.idempotencyKey ?? null).toBeNull();
});

it("a call whose answer was lost is repeated, and has one effect", async () => {
  const before = fake.events.length;
  let lost = false;
  fake.interfere = () => {
    if (lost) return undefined;
    lost = true;
    return "cut-after";
  };
  await withService(submitEvent);
  expect(fake.calls).toHaveLength(2);
  expect(fake.events.length - before).toBe(1);
});

it("the agent waits as long as Retry-After asks, and gives up where that is too long", async () => {
  let busy = true;
  fake.interfere = () => {
    if (!busy) return undefined;
    busy = false;
    return { ...failure(429, "rate_limited", "slowly"), headers: { "retry-after": "1" } };
  };
  const started = performance.now();
  await withService(heartbeat);
  expect(performance.now() - started).toBeGreaterThan(950);

  fake.calls.length = 0;
  fake.interfere = () => ({ ...failure(429, "rate_limited", "slowly"), headers: { "retry-after": "3600" } });
  await expect(withService(heartbeat)).rejects.toMatchObject({ code: "refused", retryAfter_s: 3600 });
  expect(fake.calls).toHaveLength(1);
});

it("a call that was refused for good is not repeated, and the error says by whom and why", async () => {
  await expect(withService(heartbeat, { token: `ats_${"x".repeat(43)}` })).rejects.toMatchObject({
    code: "refused",
    status: 401,
    refusal: { error: "unauthenticated", requestId: expect.stringMatching(/^req_/) },
  });
  expect(fake.calls).toHaveLength(1);
});

it.each([
  ["an HTML page", { status: 200, body: "<html>" }],
  ["a proxy's error", { status: 403, body: "Forbidden by corporate policy" }],
  ["a missing field", { status: 200, body: '{"server_time":"2026-01-01T00:00:00.000Z"}' }],
  [
    "half a command",
    {
      status: 200,
      body: '{"server_time":"2026-01-01T00:00:00.000Z","next_interval_s":1,"log_head":"","commands":[{"kind":"backup"}]}',
    },
  ],
  ["null", { status: 200, body: "null" }],
  ["another status", { status: 204, body: "" }],
  ["an error body that lacks a field", { status: 400, body: '{"error":"invalid_request","message":"x"}' }],
])("does not take %s for an answer", async (_name, answer) => {
  fake.interfere = () => answer;
  await expect(withService(heartbeat)).rejects.toMatchObject({ code: "invalid_response", refusal: null });
});

it("the agent reads no answer beyond the contract's largest body", async () => {
  fake.interfere = () => ({ status: 200, body: `"${"x".repeat(2 * 1024 * 1024)}"` });
  await expect(withService(heartbeat)).rejects.toMatchObject({ code: "invalid_response" });
});

it("the agent lets a newer service say more than this version knows", async () => {
  const log_head = fake.log.checkpoint();
  const body = { server_time: new Date().toISOString(), next_interval_s: 5, commands: [], log_head, news: 1 };
  fake.interfere = () => ({ status: 200, body: JSON.stringify(body) });
  expect((await withService(heartbeat)).response).not.toHaveProperty("news");
});

it("an unreachable service is reported, and waiting for it can be aborted", async () => {
  const url = new URL("https://127.0.0.1:1");
  await expect(withService(heartbeat, { url })).rejects.toMatchObject({ code: "unreachable" });
  const stop = new AbortController();
  fake.interfere = () => {
    stop.abort();
    return "cut";
  };
  await expect(
    withService((service) => service.heartbeat(beat, { signal: stop.signal })),
  ).rejects.toMatchObject({
    name: "AbortError",
  });
});

it("the agent gives up on an answer that does not come", async () => {
  const held = createServer(fake.certificates, () => undefined);
  held.listen(0, "localhost");
  await once(held, "listening");
  const url = new URL(`https://localhost:${(held.address() as AddressInfo).port}`);
  const call = withService((service) => service.heartbeat(beat, { signal, once: true }), {
    url,
    timeout_ms: 200,
  });
  await expect(call).rejects.toMatchObject({ code: "timeout" });
  held.closeAllConnections();
  held.close();
});

it("the agent uploads a file and downloads it again, taking up a broken download where it broke", async () => {
  const content = randomBytes(3_000_000);
  const file = join(directory, "blob.age");
  writeFileSync(file, content);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const received = join(directory, "received.age");
  await withService(async (service) => {
    const target = await service.uploadUrl(
      { source_id: fake.sourceId("s"), sha256, size_bytes: content.length },
      { signal },
    );
    const progress: number[] = [];
    await service.upload({
      url: target.upload_url,
      headers: target.headers,
      file,
      offset: 0,
      sizeBytes: content.length,
      signal,
      onProgress: (bytes) => progress.push(bytes),
    });
    expect(progress.at(-1)).toBe(content.length);
    expect(fake.objects.get(target.upload_id)?.equals(content)).toBe(true);

    const ranges = await brokenStore(content, async (url) => {
      await service.download({ url, file: received, expectedBytes: content.length, signal });
    });
    expect(ranges.length).toBeGreaterThan(2);
    expect(ranges[0]).toBeUndefined();
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range ?? ""))).toBe(true);
    expect(readFileSync(received).equals(content)).toBe(true);
  });
});

it.each([
  ["in the middle of what arrives", 16],
  ["at once", 0],
])("a download to a disk that is full %s says so, and is no object that differs", async (_, roomKib) => {
  const small = join(directory, "small");
  mkdirSync(small);
  try {
    using disk = new SmallDisk(small, { bytes: 64 * 1024 });
    disk.fill(roomKib * 1024);
    const content = randomBytes(30_000);
    fake.objects.set("larger", content);
    const download = withService((service) =>
      service.download({
        url: `${fake.url}/objects/larger`,
        file: join(small, "got"),
        expectedBytes: content.length,
        signal,
      }),
    );
    await expect(download).rejects.toMatchObject({ name: "RunError", code: "disk_full" });
  } finally {
    rmdirSync(small);
  }
});

it("the agent starts a download again when the store ignores the range", async () => {
  const content = randomBytes(1_000_000);
  const file = join(directory, "whole.age");
  await withService(async (service) => {
    await brokenStore(
      content,
      (url) => service.download({ url, file, expectedBytes: content.length, signal }),
      { ranges: false },
    );
  });
  expect(readFileSync(file).equals(content)).toBe(true);
});

it("a download reads at most one byte more than it expects", async () => {
  fake.objects.set("big", randomBytes(500_000));
  const file = join(directory, "big");
  await withService((service) =>
    service.download({ url: `${fake.url}/objects/big`, file, expectedBytes: 1000, signal }),
  );
  expect(readFileSync(file)).toHaveLength(1001);
});

it("an object store's refusal is reported with its status, and nothing is sent to anything but https", async () => {
  const file = join(directory, "none");
  await withService(async (service) => {
    const get = (url: string) => service.download({ url, file, expectedBytes: 1, signal });
    await expect(get(`${fake.url}/objects/none?sig=hunter2`)).rejects.toMatchObject({
      code: "object_refused",
      status: 404,
      message: expect.not.stringContaining("hunter2"),
    });
    await expect(get("http://localhost/x")).rejects.toMatchObject({ code: "invalid_response" });
    await expect(get("nonsense")).rejects.toMatchObject({ code: "invalid_response" });
  });
});

/** An object store whose connections break after 400 kB. @returns the Range headers that it saw. */
async function brokenStore(
  content: Buffer,
  use: (url: string) => Promise<void>,
  { ranges = true } = {},
): Promise<(string | undefined)[]> {
  const seen: (string | undefined)[] = [];
  const store = createServer(fake.certificates, (request, response) => {
    seen.push(request.headers.range);
    const start = ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
    const headers = { etag: '"v1"', "content-length": content.length - start };
    if (start > 0)
      response.writeHead(206, {
        ...headers,
        "content-range": `bytes ${start}-${content.length - 1}/${content.length}`,
      });
    else response.writeHead(200, headers);
    const breaks = ranges || seen.length === 1;
    const part = content.subarray(start, breaks ? start + 400_000 : undefined);
    response.write(part, () => {
      if (start + part.length < content.length) response.destroy();
      else response.end();
    });
  });
  store.listen(0, "localhost");
  await once(store, "listening");
  try {
    await use(`https://localhost:${(store.address() as AddressInfo).port}/object`);
  } finally {
    store.closeAllConnections();
    store.close();
  }
  return seen;
}

it("the agent never waits for more than an hour, whatever Retry-After says", () => {
  const backoff = { tries: 9, first_ms: 1_000, longest_ms: 60_000 };
  expect(backoffDelay(backoff, 1, 9_999_999)).toBe(LONGEST_WAIT_MS);
  expect(backoffDelay(backoff, 1, 120)).toBe(120_000);
});

it("a download gives up on a store that trickles the object or the response header", async () => {
  const store = createServer(fake.certificates, ({ url, socket }, response) => {
    if (url === "/body") {
      response.writeHead(200, { "content-length": 1_000_000 });
      response.write("x");
    } else socket.write("HTTP/1.1 200 OK\r\n");
  });
  store.listen(0, "localhost");
  await once(store, "listening");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    for (const path of ["body", "head"]) {
      const url = `https://localhost:${(store.address() as AddressInfo).port}/${path}`;
      const file = join(directory, "slow");
      const error = withService((service) =>
        service.download({ url, file, expectedBytes: 1_000_000, signal }),
      ).catch((thrown: unknown) => thrown);
      let isOver = false;
      void error.then(() => (isOver = true));
      while (!isOver) {
        vi.advanceTimersByTime(60_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await error).toMatchObject({ code: "timeout" });
    }
  } finally {
    vi.useRealTimers();
    store.closeAllConnections();
    store.close();
  }
});

it("an upload gives up on a store that accepts only a trickle", async () => {
  const store = createServer(fake.certificates, (request) => {
    // The connection's buffers fill first. After that a byte is taken at a time.
    const taking = setInterval(() => request.read(1), 100);
    request.once("close", () => clearInterval(taking));
  });
  store.listen(0, "localhost");
  await once(store, "listening");
  const file = join(directory, "large");
  const sizeBytes = 256 << 20;
  writeFileSync(file, "");
  truncateSync(file, sizeBytes);
  const url = `https://localhost:${(store.address() as AddressInfo).port}/object`;
  let sent = 0;
  const upload = {
    url,
    headers: {},
    file,
    offset: 0,
    sizeBytes,
    signal,
    onProgress: (bytes: number) => (sent = bytes),
  };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const error = withService((service) => service.upload(upload)).catch((thrown: unknown) => thrown);
    let isOver = false;
    void error.then(() => (isOver = true));
    await vi.waitFor(() => expect(sent).toBeGreaterThan(0), { timeout: 30_000 });
    while (!isOver) {
      vi.advanceTimersByTime(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await error).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("the upload is too slow: less than 16 KiB in 60 seconds"),
    });
    expect(sent).toBeLessThan(sizeBytes);
  } finally {
    vi.useRealTimers();
    store.closeAllConnections();
    store.close();
    rmSync(file);
  }
});
