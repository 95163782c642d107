import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../test/service.ts";
import { ownAddress } from "../../../test/client.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ handshakes: { within_ms: 500, mostOfAddress: 5, most: 100 } });
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

test("of one address there are no more than a few, and others are not kept out by them", async () => {
  const from = ownAddress();
  const held = await Promise.all(Array.from({ length: 5 }, () => unfinished(from)));
  const began = performance.now();
  await isDestroyed(await unfinished(from));
  expect(performance.now() - began).toBeLessThan(450);
  expect((await service.call({ method: "GET", path: "/api/openapi.json", from: ownAddress() })).status).toBe(
    200,
  );
  await Promise.all(held.map(isDestroyed));
});
