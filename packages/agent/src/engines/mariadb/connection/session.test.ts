import fc from "fast-check";
import { expect, test } from "vitest";
import { asBytes, asText } from "./session.ts";

test("texts stay texts, and two different rows of bytes never give the same text", () => {
  const odd = fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xef, 0xbd, 0xbf, 0xf0, 0xff);
  const bytes = fc.array(odd, { maxLength: 6 }).map((each) => String.fromCharCode(...each));
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      expect(asBytes(one) === asBytes(other)).toBe(one === other);
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const whole = Buffer.from(text).toString("latin1");
      expect([asText(whole), asBytes(whole)]).toEqual([text, text]);
    }),
  );
  expect(asBytes("a\xff\xe2\x98\x83\xe2\x98")).toBe("a\udcff☃\udce2\udc98");
});
