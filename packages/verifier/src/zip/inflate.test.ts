import { crc32 as zlibCrc32, deflateRawSync } from "node:zlib";
import { concatBytes } from "@attestore/proof";
import { describe, expect, it } from "vitest";
import * as inBrowser from "./inflate.browser.ts";
import * as inNode from "./inflate.node.ts";

const content = Uint8Array.from({ length: 200_000 }, (_, n) => (n * n) >> 7);
const packed = new Uint8Array(deflateRawSync(content));

describe.each([
  ["Node", inNode],
  ["browsers", inBrowser],
])("unpacking in %s", (_name, { inflateChunks, inflateRaw, crc32 }) => {
  async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 1000) yield Promise.resolve(bytes.subarray(at, at + 1000));
  }
  const unpackedInPieces = async (bytes: Uint8Array): Promise<Uint8Array> => {
    const pieces: Uint8Array[] = [];
    for await (const piece of inflateChunks(inPieces(bytes), bytes.length)) pieces.push(piece);
    return concatBytes(...pieces);
  };

  it("gives the bytes and their CRC", async () => {
    expect(new Uint8Array(await inflateRaw(packed, content.length))).toEqual(content);
    expect((await inflateRaw(new Uint8Array(deflateRawSync("")), 0)).length).toBe(0);
    for (const bytes of [content, new Uint8Array(), packed]) expect(crc32(bytes)).toBe(zlibCrc32(bytes));
    expect(await unpackedInPieces(packed)).toEqual(content);
    const [head, tail] = [content.subarray(0, 77), content.subarray(77)];
    expect(crc32(tail, crc32(head))).toBe(zlibCrc32(content));
  });

  it.each([
    ["what unpacks to more", packed, content.length - 1],
    ["what is cut short", packed.subarray(0, -10), content.length],
    ["what is followed by something", new Uint8Array([...packed, 0]), content.length],
    ["what is nothing of the kind", content.subarray(0, 100), 1_000_000],
  ])("refuses %s", async (_what, bytes, most) => {
    await expect(inflateRaw(new Uint8Array(bytes), most)).rejects.toThrow();
    if (most < content.length) return;
    await expect(unpackedInPieces(bytes)).rejects.toThrow();
  });
});
