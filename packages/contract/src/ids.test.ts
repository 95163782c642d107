import fc from "fast-check";
import { expect, it } from "vitest";
import { firstIdAt, idPattern, isId, newId, timeOfId } from "./ids.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

function decode(suffix: string): bigint {
  return Array.from(suffix).reduce(
    (value, character) => value * 32n + BigInt(ALPHABET.indexOf(character)),
    0n,
  );
}

it("an identifier is a UUIDv7 in Crockford base32 after its kind's prefix", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (now) => {
      const id = newId("receipt", now);
      expect(id).toMatch(new RegExp(idPattern("receipt")));
      const uuid = decode(id.slice("rcpt_".length));
      expect(uuid >> 80n).toBe(BigInt(now));
      expect(timeOfId(id)).toBe(now);
      expect((uuid >> 76n) & 0xfn).toBe(7n);
      expect((uuid >> 62n) & 0x3n).toBe(2n);
    }),
  );
});

it("every moment has a first identifier, in order of the moments, including those before 1970", () => {
  const moment = fc.integer({ min: Date.UTC(-1, 0), max: Date.UTC(9999, 11, 31) });
  fc.assert(
    fc.property(moment, moment, (one, other) => {
      const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
      expect(firstIdAt("receipt", earlier) <= firstIdAt("receipt", later)).toBe(true);
      expect(isId("receipt", firstIdAt("receipt", earlier))).toBe(true);
      if (later >= 0) expect(firstIdAt("receipt", later) <= newId("receipt", later)).toBe(true);
    }),
    { examples: [[-1, 0]] },
  );
});

it("the published TypeID example is accepted and near misses are refused", () => {
  // TypeID specification, README example: prefix_2x4y6z8a0b1c2d3e4f5g6h7j8k
  const id = "rcpt_2x4y6z8a0b1c2d3e4f5g6h7j8k";
  expect(isId("receipt", id)).toBe(true);
  for (const wrong of [
    id.toUpperCase(),
    id.slice(0, -1),
    `${id}0`,
    id.replace("2x", "8x"),
    id.replace("rcpt", "bkp"),
    `${id}\n`,
    id.replace("k", "l"),
  ])
    expect(isId("receipt", wrong), wrong).toBe(false);
});
