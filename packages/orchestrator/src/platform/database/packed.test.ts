import { expect, test } from "vitest";
import { byteaArray, pack, plainArray } from "./packed.ts";

test("packs byte strings end to end, with starts from 1", () => {
  const packed = pack([Buffer.from("ab"), Buffer.alloc(0), Buffer.from("cde")]);
  expect(packed.bytes.toString()).toBe("abcde");
  expect(packed.starts).toBe("{1,3,3}");
  expect(packed.lengths).toBe("{2,0,3}");
});

test("an array literal takes ids, numbers, times and null, and nothing that would be syntax", () => {
  expect(plainArray(["org_01h4", 5, null, "2026-11-21T09:00:00.000Z"])).toBe(
    "{org_01h4,5,NULL,2026-11-21T09:00:00.000Z}",
  );
  for (const wrong of ["", "a,b", 'a"b', "{", "a b", "null", "NULL", "a\\", "ä"])
    expect(() => plainArray([wrong]), wrong).toThrow(TypeError);
});

test("an array literal of byte strings is hex that PostgreSQL unescapes once", () => {
  expect(byteaArray([Buffer.from("ab"), Buffer.alloc(0)])).toBe('{"\\\\x6162","\\\\x"}');
  expect(byteaArray([])).toBe("{}");
});
