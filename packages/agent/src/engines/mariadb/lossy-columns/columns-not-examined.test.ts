import { expect, test } from "vitest";
import { columnsNotExamined } from "./columns-not-examined.ts";

test("a column that one of two looks did not get to is not examined, and one with values that a dump cannot tell apart; each is named once", () => {
  const before = {
    floats: { changed: [], notExamined: ["shop.t.price"] },
    texts: { changed: [], notExamined: [] },
    enums: { changed: ["shop.t.kind"], notExamined: [] },
    json: { changed: ["shop.t.data"], notExamined: [] },
    jsonTypes: ["shop.t.more"],
  };
  const after = {
    floats: { changed: [], notExamined: ["shop.t.price", "shop.u.weight"] },
    texts: { changed: [], notExamined: ["shop.t.title"] },
    enums: { changed: ["shop.t.kind"], notExamined: ["shop.u.kind"] },
    json: { changed: [], notExamined: ["shop.u.data"] },
    jsonTypes: [],
  };
  expect(columnsNotExamined([before, after])).toEqual([
    { name: "shop.u.data", why: "json_not_examined" },
    { name: "shop.t.more", why: "json_types" },
    { name: "shop.t.price", why: "float_not_examined" },
    { name: "shop.u.weight", why: "float_not_examined" },
    { name: "shop.t.title", why: "text_not_examined" },
    { name: "shop.t.kind", why: "enum_ambiguous" },
    { name: "shop.u.kind", why: "enum_not_examined" },
  ]);
});
