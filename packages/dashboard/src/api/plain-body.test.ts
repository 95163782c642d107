import { expect, test } from "vitest";
import { plainBody } from "./plain-body.ts";

test("no text of an answer turns the direction of writing, raw or escaped", () => {
  const raw = JSON.stringify({ name: "db\u202e)detset( PASSED", notes: ["a\n\u0085b"], n: 5, none: null });
  const plain = { name: "db\\u202e)detset( PASSED", notes: ["a\n\\u0085b"], n: 5, none: null };
  expect(JSON.parse(plainBody(raw))).toEqual(plain);
  expect(JSON.parse(plainBody(raw.replace("\u202e", "\\u202e")))).toEqual(plain);
});
