import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { DifferentTexts } from "./different-texts.ts";
import { entropyOf, looksRandom, looksRandomBytes } from "./looks-random.ts";

const ROWS = 12_000;
const hash = (index: number): string => createHash("sha256").update(`row ${index}`).digest("hex");
const base64 = (index: number): string => Buffer.from(hash(index), "hex").toString("base64");
const prose = (index: number): string => `please leave parcel ${index} with the neighbours`;
const many = (textOf: (index: number) => string): [number, string][] =>
  Array.from({ length: ROWS }, (_, index) => [1, textOf(index)]);

/** Per row, from all texts. */
function looked(texts: readonly (readonly [number, string])[], isBytes = false) {
  const different = new DifferentTexts(isBytes);
  let reads = 0;
  for (const [rows, text] of texts)
    different.add(rows, () => {
      reads += 1;
      return text;
    });
  const { texts: of, random, entropy } = different.sums;
  return { of, random: random / of, entropy: entropy / of, reads };
}

/** The same without leaving out any text. */
function lookedAtAll(texts: readonly (readonly [number, string])[]) {
  const of = texts.reduce((sum, [rows]) => sum + rows, 0);
  const mean = (value: (text: string) => number): number =>
    texts.reduce((sum, [rows, text]) => sum + rows * value(text), 0) / of;
  return { of, random: mean((text) => Number(looksRandom(text))), entropy: mean(entropyOf) };
}

test("a hundredth of encrypted texts among prose is counted to the last one", () => {
  const texts = many((index) => (index % 100 === 57 ? base64(index) : prose(index)));
  expect(looked(texts)).toMatchObject({ of: ROWS, reads: ROWS, random: lookedAtAll(texts).random });
  expect(looked(texts).random).toBeGreaterThan(0.009);
  const late = many((index) => (index >= ROWS - 7 ? base64(index) : prose(index)));
  expect(looked(late).random).toBe(lookedAtAll(late).random);
});

test("the entropy is that of all texts to a twentieth of a bit, in any order", () => {
  const mixed = many((index) => (index % 3 === 0 ? base64(index) : prose(index)));
  const halves = many((index) => (index < ROWS / 2 ? prose(index) : "a".repeat(40) + index));
  for (const texts of [many(prose), many(hash), mixed, halves, halves.toReversed()])
    expect(Math.abs(looked(texts).entropy - lookedAtAll(texts).entropy)).toBeLessThan(0.05);
});

test("a text that many rows have always counts for exactly those rows", () => {
  const texts = [...many(prose), [ROWS, "a".repeat(40)], [2, hash(1)]] as const;
  expect(looked(texts).of).toBe(2 * ROWS + 2);
  expect(Math.abs(looked(texts).entropy - lookedAtAll(texts).entropy)).toBeLessThan(0.05);
  expect(looked(texts).random).toBe(lookedAtAll(texts).random);
  const random = [...many(hash), [ROWS, "a".repeat(40)]] as const;
  expect(Math.abs(looked(random).random - lookedAtAll(random).random)).toBeLessThan(0.02);
});

test("where nearly all look encrypted, few are looked at, and the share is right to a few hundredths", () => {
  expect(looked(many(hash)).reads).toBeLessThan(ROWS / 4);
  expect(Math.abs(looked(many(hash)).random - lookedAtAll(many(hash)).random)).toBeLessThan(0.02);
  // Sorted texts may begin with all that look encrypted.
  const sorted = many((index) => (index < 1_500 ? base64(index) : prose(index)));
  expect(Math.abs(looked(sorted).random - lookedAtAll(sorted).random)).toBeLessThan(0.03);
});

test("bytes are looked at as bytes, and no text at all has no sums", () => {
  const bytes = many(hash);
  const share = bytes.filter(([, hex]) => looksRandomBytes(hex)).length / ROWS;
  expect(Math.abs(looked(bytes, true).random - share)).toBeLessThan(0.03);
  expect(looked(bytes, true).entropy).toBeGreaterThan(4.5);
  expect(new DifferentTexts(false).sums).toEqual({ texts: 0, random: 0, entropy: 0 });
});
