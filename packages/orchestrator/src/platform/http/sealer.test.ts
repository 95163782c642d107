import fc from "fast-check";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createSealer } from "./sealer.ts";

const sealer = createSealer(randomBytes(32));

test("the sealer opens what it sealed, under the same purpose", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.string(), async (plaintext, purpose) => {
      const sealed = await sealer.seal(plaintext, purpose);
      expect((await sealer.open(sealed, purpose)).equals(Buffer.from(plaintext))).toBe(true);
      if (plaintext.length >= 8) expect(sealed.includes(Buffer.from(plaintext))).toBe(false);
    }),
  );
});

test("the sealer seals the same text differently each time", async () => {
  const [one, other] = [await sealer.seal(Buffer.from("x"), "p"), await sealer.seal(Buffer.from("x"), "p")];
  expect(one.equals(other)).toBe(false);
});

test("the sealer opens nothing under another purpose, another key, or with any bit changed", async () => {
  const sealed = await sealer.seal(Buffer.from("secret"), "purpose");
  await expect(sealer.open(sealed, "other")).rejects.toThrow();
  await expect(createSealer(randomBytes(32)).open(sealed, "purpose")).rejects.toThrow();
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    await expect(sealer.open(changed, "purpose"), String(bit)).rejects.toThrow();
  }
  for (let length = 0; length < sealed.length; length++)
    await expect(sealer.open(sealed.subarray(0, length), "purpose")).rejects.toThrow();
});

test("the sealer takes a key of 32 bytes only", () => {
  expect(() => createSealer(Buffer.alloc(16))).toThrow(RangeError);
});
