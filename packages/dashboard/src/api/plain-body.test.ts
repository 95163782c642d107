import { expect, test } from "vitest";
import { plainBody } from "./plain-body.ts";

test("texts in an answer cannot change the writing direction, raw or escaped", () => {
  const raw = JSON.stringify({ name: "db\u202e)detset( PASSED", notes: ["a\n\u0085b"], n: 5, none: null });
  const plain = { name: "db\\u202e)detset( PASSED", notes: ["a\n\\u0085b"], n: 5, none: null };
  expect(JSON.parse(plainBody(raw))).toEqual(plain);
  expect(JSON.parse(plainBody(raw.replace("\u202e", "\\u202e")))).toEqual(plain);
});
