import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestService, type TestAgent, type TestService } from "../../../../test/service.ts";
import { ownAddress } from "../../../../test/client.ts";
import { RecordingLogger } from "../../../../test/recording-logger.ts";
import { logRefusals } from "../api-log/log-refusals.ts";
import { withinOpenFiles } from "./unauthenticated-connections.ts";

const PROXY = "127.200.0.1";

let service: TestService;
let agent: TestAgent;
beforeAll(async () => {
  service = await startTestService({
    connections: { within_ms: 1_000, mostOfAddress: 5, most: 100 },
    trustProxy: [PROXY],
  });
  agent = await service.attach(await service.addOrg());
});
afterAll(() => service.close());

/** Connects, sends what is given, and never goes on with the handshake. */
async function unfinished(localAddress: string, first?: Uint8Array): Promise<Socket> {
  // Half open: it does not end because the service ends its half.
  const socket = connect({ host: "127.0.0.1", port: service.port, localAddress, allowHalfOpen: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (first !== undefined) socket.write(first);
  return socket;
}
const isDestroyed = async (socket: Socket): Promise<void> => {
  if (socket.destroyed) return;
  const ended = new Promise<void>((resolve) => {
    socket.once("end", () => resolve());
  });
  socket.resume();
  // A write to a connection that is gone on the other side is answered with a reset, which `error`
  // tells as well.
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  // Until then nothing is sent: it is the time that ends it.
  await Promise.race([ended, closed]);
  if (socket.destroyed) return;
  const trying = setInterval(() => socket.write("x"), 20);
  await closed;
  clearInterval(trying);
};

test.each([
  ["that says nothing", undefined],
  ["that begins a record and does not end it", Buffer.from([22, 3, 1, 2, 0, 1])],
  ["that says something else", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
])("a connection %s is destroyed, though its client keeps its half open", async (_what, first) => {
  await isDestroyed(await unfinished(ownAddress(), first));
  expect((await service.call({ method: "GET", path: "/api/openapi.json" })).status).toBe(200);
});

test("of one address there are no more than a few, what is refused is logged once a minute, and others are not kept out", async () => {
  const from = ownAddress();
  const held = await Promise.all(Array.from({ length: 5 }, () => unfinished(from)));
  const began = performance.now();
  await isDestroyed(await unfinished(from));
  expect(performance.now() - began).toBeLessThan(950);
  await isDestroyed(await unfinished(from));
  expect(
    service.logger.lines.filter(({ message }) => message.startsWith("connections were refused")),
  ).toEqual([
    {
      level: "warn",
      fields: { connections: 1, networks: { [from]: 1 } },
      message: expect.any(String) as string,
    },
  ]);
  expect((await service.call({ method: "GET", path: "/api/openapi.json", from: ownAddress() })).status).toBe(
    200,
  );
  await Promise.all(held.map(isDestroyed));
});

/** Finishes its handshake, and asks for nothing yet. */
async function finished(localAddress: string): Promise<Socket> {
  const to = { host: "127.0.0.1", port: service.port, servername: "localhost", ca: service.ca, localAddress };
  const secure = connectTls(to);
  secure.on("error", () => undefined);
  await once(secure, "secureConnect");
  return secure;
}

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.resume().once("close", () => resolve());
  });

const get = (path: string, token?: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\n${token === undefined ? "" : `authorization: Bearer ${token}\r\n`}`;

/** Until the status line of the answer. */
async function ask(socket: Socket, request: string): Promise<string> {
  socket.write(`${request}\r\n`);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString("latin1").slice(9, 12);
}

test.each([
  ["that never asks", ""],
  ["that sends its headers a byte at a time", get("/healthz")],
])("a finished handshake %s is destroyed after the same time", async (_what, text) => {
  const socket = await finished(ownAddress());
  const over = closed(socket);
  const began = performance.now();
  let sent = 0;
  const dripping = setInterval(() => {
    if (sent < text.length) socket.write(text.slice(sent, (sent += 1)));
  }, 50);
  await over;
  clearInterval(dripping);
  expect(performance.now() - began).toBeGreaterThan(900);
});

test("a connection ends when it is idle after an answer that needs no credential, or after a wrong one", async () => {
  for (const [token, status] of [
    [undefined, "200"],
    ["agt_wrong", "401"],
  ] as const) {
    const socket = await finished(ownAddress());
    const path = token === undefined ? "/healthz" : "/v1/commands";
    expect(await ask(socket, get(path, token))).toBe(status);
    const began = performance.now();
    await closed(socket);
    expect(performance.now() - began).toBeGreaterThan(900);
  }
});

test("a connection with an authenticated request stays, and leaves its place to others of its address", async () => {
  const from = ownAddress();
  const known = await finished(from);
  expect(await ask(known, get("/v1/commands", agent.token))).toBe("200");
  const strangers = await Promise.all(Array.from({ length: 5 }, () => finished(from)));
  await isDestroyed(await unfinished(from));
  // They are gone later than it could have been, had it been one of them.
  await Promise.all(strangers.map(closed));
  expect(await ask(known, get("/v1/commands", agent.token))).toBe("200");
  known.destroy();
});

test("a trusted proxy keeps as many connections as it likes", async () => {
  const held: Socket[] = [];
  for (let n = 0; n < 8; n += 1) held.push(await finished(PROXY));
  const stranger = await finished(ownAddress());
  await closed(stranger);
  for (const socket of held) {
    expect(await ask(socket, get("/healthz"))).toBe("200");
    socket.destroy();
  }
});

test("refused connections are logged at once, and then once a minute with how many there were and from where", () => {
  vi.useFakeTimers();
  try {
    const logger = new RecordingLogger();
    const refused = logRefusals(logger);
    for (let each = 0; each < 10; each++) refused(each < 3 ? "192.0.2.1" : "192.0.2.2");
    expect(logger.lines.map(({ fields }) => fields)).toEqual([
      { connections: 1, networks: { "192.0.2.1": 1 } },
    ]);
    vi.advanceTimersByTime(60_000);
    expect(logger.lines.at(-1)?.fields).toEqual({
      connections: 9,
      networks: { "192.0.2.2": 7, "192.0.2.1": 2 },
    });
    vi.advanceTimersByTime(600_000);
    expect(logger.lines).toHaveLength(2);
    refused("192.0.2.3");
    expect(logger.lines).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});

test("strangers get at most half of the files that the service may open", () => {
  expect(withinOpenFiles(128, 1024)).toEqual({ most: 64, mostOfAddress: 32 });
  expect(withinOpenFiles(65_536, 1024)).toEqual({ most: 8192, mostOfAddress: 1024 });
  expect(withinOpenFiles(Number.POSITIVE_INFINITY, 512)).toEqual({ most: 8192, mostOfAddress: 512 });
});
