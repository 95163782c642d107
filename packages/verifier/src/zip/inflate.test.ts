import { crc32 as zlibCrc32, deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import * as inBrowser from "./inflate.browser.ts";
import * as inNode from "./inflate.node.ts";

const content = Uint8Array.from({ length: 200_000 }, (_, n) => (n * n) >> 7);
const packed = new Uint8Array(deflateRawSync(content));

describe.each([
  ["Node", inNode],
  ["browsers", inBrowser],
])("unpacking in %s", (_name, { inflateRaw, crc32 }) => {
  it("gives the bytes and their CRC", async () => {
    expect(new Uint8Array(await inflateRaw(packed, content.length))).toEqual(content);
    expect((await inflateRaw(new Uint8Array(deflateRawSync("")), 0)).length).toBe(0);
    for (const bytes of [content, new Uint8Array(), packed]) expect(crc32(bytes)).toBe(zlibCrc32(bytes));
  });

  it.each([
    ["what unpacks to more", packed, content.length - 1],
    ["what is cut short", packed.subarray(0, -10), content.length],
    ["what is followed by something", new Uint8Array([...packed, 0]), content.length],
    ["what is nothing of the kind", content.subarray(0, 100), 1_000_000],
  ])("refuses %s", async (_what, bytes, most) => {
    await expect(inflateRaw(new Uint8Array(bytes), most)).rejects.toThrow();
  });
});
