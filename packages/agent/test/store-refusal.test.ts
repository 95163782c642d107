import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { downloadObject } from "../src/transport/download-object.ts";
import { uploadObject } from "../src/transport/upload-object.ts";
import { makeCertificates } from "./service/certificates.ts";

const certificates = makeCertificates();
const connections = new Agent({ ca: certificates.ca });
const single = { tries: 1, first_ms: 1, longest_ms: 1 };
const { signal } = new AbortController();

let directory: string;
let file: string;
let refusal = "";
let isCut = false;
const store = createServer(certificates, (request, response) => {
  request.resume();
  if (isCut) {
    response.writeHead(403, { "content-length": 1000 }).write("<Error>", () => response.destroy());
    return;
  }
  response.writeHead(503, { connection: "close" }).end(refusal);
});
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "attestore-refusal-"));
  file = join(directory, "object");
  writeFileSync(file, "backup");
  await once(store.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  connections.destroy();
  store.close();
  rmSync(directory, { recursive: true });
});

const url = (): string => `https://localhost:${(store.address() as AddressInfo).port}/object?sig=hunter2`;
const ways = {
  upload: () =>
    uploadObject(connections, single, { url: url(), headers: {}, file, offset: 0, sizeBytes: 6, signal }),
  download: () => downloadObject(connections, single, { url: url(), file, expectedBytes: 6, signal }),
};

it.each([
  [
    "the service's own words",
    '{"error":"unavailable","message":"The object store has no space for this object.","request_id":"r","details":{}}',
    ": The object store has no space for this object. (status 503)",
  ],
  [
    "S3's code, and not its message, which may quote the URL",
    "<Error><Code>SlowDown</Code><Message>hunter2</Message></Error>",
    " (status 503, SlowDown)",
  ],
  ["the status alone, if a proxy answered with a page", "<html>hunter2</html>", " (status 503)"],
  ["the status alone, of an answer that never ends", "hunter2".repeat(1_000_000), " (status 503)"],
])("a refusal of a transfer has %s", async (_, body, says) => {
  refusal = body;
  for (const [what, transfer] of Object.entries(ways))
    await expect(transfer()).rejects.toMatchObject({
      code: "object_refused",
      status: 503,
      message: `the object store ${new URL(url()).host} refused the ${what}${says}`,
    });
});

it.each(Object.entries(ways))(
  "a refusal of a transfer (%s) whose body is cut off is still a refusal",
  async (_, transfer) => {
    isCut = true;
    await expect(transfer()).rejects.toMatchObject({ code: "object_refused", status: 403 });
    isCut = false;
  },
);
