import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { uploadObject } from "../src/transport/upload-object.ts";
import { makeCertificates } from "./service/certificates.ts";

const SIZE = 2_000_000;
const certificates = makeCertificates();

let directory: string;
let file: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "attestore-upload-"));
  file = join(directory, "object");
  writeFileSync(file, Buffer.alloc(SIZE, "backup"));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Uploads to a store that answers once it has read so many bytes of the body, and closes. */
async function uploadTo(readsBytes: number, times: number): Promise<PromiseSettledResult<unknown>[]> {
  const store = createServer(certificates, (line) => {
    let head = "";
    let bytes = 0;
    line.on("error", () => line.destroy());
    line.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (!head.includes("\r\n\r\n")) {
        head += chunk.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end === -1) return;
        bytes = head.length - end - 4;
        line.write("HTTP/1.1 100 Continue\r\n\r\n");
      }
      if (bytes >= readsBytes)
        line.end('HTTP/1.1 200 OK\r\netag: "x"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    });
  }).listen(0, "127.0.0.1");
  await once(store, "listening");
  const connections = new Agent({ keepAlive: true, ca: certificates.ca });
  const url = `https://localhost:${(store.address() as AddressInfo).port}/object`;
  const single = { tries: 1, first_ms: 1, longest_ms: 1 };
  const { signal } = new AbortController();
  const upload = { url, headers: {}, file, offset: 0, sizeBytes: SIZE, signal };
  const answers: PromiseSettledResult<unknown>[] = [];
  try {
    while (answers.length < times)
      answers.push(...(await Promise.allSettled([uploadObject(connections, single, upload)])));
    return answers;
  } finally {
    connections.destroy();
    store.close();
  }
}

it("an upload is done when the store answers at its last byte and closes the connection at once", async () => {
  // Whether Node knows by then that there is no more to send is a matter of chance: one in ten.
  const answers = await uploadTo(SIZE, 100);
  expect(answers.filter(({ status }) => status !== "fulfilled")).toEqual([]);
});

it("an upload is not done when the store says so and closes the connection in the middle of it", async () => {
  const [answer] = await uploadTo(100_000, 1);
  expect(answer).toMatchObject({ status: "rejected", reason: { code: "unreachable" } });
});
