import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromBase64, fromEitherBase64, toBase64 } from "./base64.ts";
import { equalBytes, fromUtf8, utf8 } from "./bytes.ts";
import { fromHex, hashFromHex, toHex } from "./hex.ts";
import { ProofError } from "./proof-error.ts";

const bytes = fc.uint8Array({ maxLength: 200 });

describe("hex", () => {
  it("round-trips", () => {
    fc.assert(fc.property(bytes, (value) => equalBytes(fromHex(toHex(value)), value)));
  });

  it.each(["0", "AB", "0x10", " 00", "00\n", "zz", "0g"])("refuses %j", (text) => {
    expect(() => fromHex(text)).toThrow(ProofError);
  });

  it("refuses a hash of another length", () => {
    expect(() => hashFromHex("00".repeat(31))).toThrow(ProofError);
    expect(hashFromHex("ab".repeat(32))).toHaveLength(32);
  });
});

describe("base64", () => {
  it.each([
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ])("RFC 4648 section 10: %j is %j", (text, encoded) => {
    expect(toBase64(utf8(text))).toBe(encoded);
    expect(fromUtf8(fromBase64(encoded))).toBe(text);
  });

  it("round-trips", () => {
    fc.assert(fc.property(bytes, (value) => equalBytes(fromBase64(toBase64(value)), value)));
  });

  it.each(["Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v\n", " Zm9v", "Zm9v====", "_-==", "Zg==Zg=="])(
    "refuses %j",
    (text) => {
      expect(() => fromBase64(text)).toThrow(ProofError);
    },
  );

  it("accepts either alphabet if asked to, padded, but never both in one text", () => {
    const value = Uint8Array.of(0xfb, 0xff, 0xfe, 0xff);
    for (const text of ["+//+/w==", "-__-_w=="]) expect(fromEitherBase64(text)).toEqual(value);
    for (const text of ["+/_+/w==", "-__-_x==", "+//+/w", "-__-_w", "-__-_", "-__-_w=", "-__-_w\n"])
      expect(() => fromEitherBase64(text)).toThrow(ProofError);
  });
});

describe("UTF-8", () => {
  it("refuses a lone surrogate and keeps a byte order mark", () => {
    expect(() => utf8("\ud800")).toThrow(ProofError);
    expect(() => fromUtf8(Uint8Array.of(0xc0, 0x80))).toThrow(ProofError);
    expect(fromUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41))).toBe("\ufeffA");
  });
});
