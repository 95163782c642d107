import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { RecordingLogger } from "../../../test/recording-logger.ts";
import { S3Client } from "./s3-client.ts";

/** Stores that answer, but not as a store should. */

let answer: (response: ServerResponse) => void;
let requests = 0;
const store = createServer((_request, response) => {
  requests += 1;
  response.on("error", () => undefined);
  answer(response);
});
let client: S3Client;
let logger: RecordingLogger;

beforeAll(async () => void (await once(store.listen(0, "127.0.0.1"), "listening")));
beforeEach(() => {
  requests = 0;
  logger = new RecordingLogger();
  logger.expected.add("the object store failed");
  const { port } = store.address() as AddressInfo;
  const settings = {
    endpoint: `http://127.0.0.1:${port}`,
    region: "eu-test-1",
    bucket: "backups",
    accessKeyId: "AKIDTEST",
    secretAccessKey: "secret",
    pathStyle: true,
  };
  client = new S3Client(settings, logger);
});
afterAll(() => {
  store.closeAllConnections();
  store.close();
});

/** Sends as fast as the other side reads; counts what was sent. */
function endless(response: ServerResponse, status: number): { sent: number } {
  const counted = { sent: 0 };
  response.writeHead(status);
  const more = (): void => {
    for (let goesOn = true; goesOn && !response.destroyed; counted.sent += 65_536)
      goesOn = response.write("x".repeat(65_536));
  };
  response.on("drain", more);
  more();
  return counted;
}

const get = { method: "GET", key: "attestore/installation.json", answerWithinMs: 60_000 } as const;

test("a refusal whose body never ends is read as far as the log quotes it", async () => {
  const sent: { sent: number }[] = [];
  answer = (response) => void sent.push(endless(response, 500));
  await expect(client.call(get, [200])).rejects.toMatchObject({ code: "unavailable" });
  expect(requests).toBe(4);
  for (const each of sent) expect(each.sent).toBeLessThan(16 * 1024 ** 2);
  const [line] = logger.lines;
  expect(line?.fields).toMatchObject({ problem: `500 ${"x".repeat(500)}` });
});

test("an answer that never ends is the store's failure, and is not kept in memory", async () => {
  const sent: { sent: number }[] = [];
  answer = (response) => void sent.push(endless(response, 200));
  await expect(client.call(get, [200])).rejects.toMatchObject({ code: "unavailable" });
  for (const each of sent) expect(each.sent).toBeLessThan(64 * 1024 ** 2);
  expect(logger.lines[0]?.fields).toMatchObject({
    problem: expect.stringContaining("longer than") as string,
  });
});

test.each([200, 500])("an answer (%i) that begins and does not go on is given up in time", async (status) => {
  answer = (response) => void response.writeHead(status, { "content-length": 100 }).write("<");
  // Also where all cores are taken, a request arrives within that time.
  await expect(client.call({ ...get, answerWithinMs: 4_000 }, [200])).rejects.toMatchObject({
    code: "unavailable",
  });
  expect(requests).toBe(4);
  expect(logger.lines[0]?.fields).toMatchObject({ problem: "the object store did not answer in time" });
});

test("an answer that is cut off is asked for again", async () => {
  answer = (response) => {
    response.writeHead(200, { "content-length": 10 });
    if (requests === 1) response.write("half", () => response.destroy());
    else response.end("0123456789");
  };
  expect((await client.call(get, [200])).text).toBe("0123456789");
});

test("a store that refuses is not one that cannot be reached", async () => {
  answer = (response) => response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
  await expect(client.call(get, [200])).rejects.toMatchObject({
    code: "unavailable",
    message: "The object store refuses the service's requests. The service's log has its answer.",
  });
  expect(requests).toBe(1);
});
