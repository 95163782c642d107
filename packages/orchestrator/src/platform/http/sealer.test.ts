import fc from "fast-check";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createSealer } from "./sealer.ts";

const sealer = createSealer(randomBytes(32));

test("opens what it sealed, under the same purpose", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (plaintext, purpose) => {
      const sealed = sealer.seal(plaintext, purpose);
      expect(sealer.open(sealed, purpose).equals(Buffer.from(plaintext))).toBe(true);
      if (plaintext.length >= 8) expect(sealed.includes(Buffer.from(plaintext))).toBe(false);
    }),
  );
});

test("seals the same text never twice the same", () => {
  expect(sealer.seal(Buffer.from("x"), "p").equals(sealer.seal(Buffer.from("x"), "p"))).toBe(false);
});

test("opens nothing under another purpose, another key, or with any bit changed", () => {
  const sealed = sealer.seal(Buffer.from("secret"), "purpose");
  expect(() => sealer.open(sealed, "other")).toThrow();
  expect(() => createSealer(randomBytes(32)).open(sealed, "purpose")).toThrow();
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => sealer.open(changed, "purpose"), String(bit)).toThrow();
  }
  for (let length = 0; length < sealed.length; length++)
    expect(() => sealer.open(sealed.subarray(0, length), "purpose")).toThrow();
});

test("takes a key of 32 bytes only", () => {
  expect(() => createSealer(Buffer.alloc(16))).toThrow(RangeError);
});
