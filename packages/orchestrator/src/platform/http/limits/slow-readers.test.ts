/** A client that takes nothing of what it asked for, and one that takes little of it. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { letGoOfSlowReaders } from "./slow-readers.ts";

const BLOCK = Buffer.alloc(1 << 20);

let server: Server;
let answering: Readable[];
beforeEach(async () => {
  answering = [];
  server = createServer((_request, response) => {
    const body = Readable.from(endless());
    answering.push(body);
    response.once("close", () => body.destroy());
    body.pipe(response);
  });
  letGoOfSlowReaders(server, { within_ms: 600 });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield BLOCK;
}

function ask(): Socket {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  return socket;
}

test("a client that reads nothing of its answer is disconnected; one that reads slowly is not", async () => {
  const slow = ask();
  let taken = 0;
  const reading = setInterval(() => (taken += (slow.read() as Buffer | null)?.length ?? 0), 30);
  const dead = ask();
  try {
    await vi.waitFor(() => expect(answering).toHaveLength(2), { timeout: 30_000 });
    await vi.waitFor(() => expect(answering.filter(({ destroyed }) => destroyed)).toHaveLength(1), {
      timeout: 30_000,
    });
    const before = taken;
    await vi.waitFor(() => expect(taken).toBeGreaterThan(before), { timeout: 30_000 });
    expect(answering.filter(({ destroyed }) => destroyed)).toHaveLength(1);
  } finally {
    clearInterval(reading);
    slow.destroy();
    dead.destroy();
  }
});
