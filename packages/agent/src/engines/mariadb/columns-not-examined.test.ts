import { expect, test } from "vitest";
import { columnsNotExamined } from "./columns-not-examined.ts";

test("a column that one of two looks did not get to is not examined, and is named once", () => {
  const before = {
    floats: { changed: [], notExamined: ["shop.t.price"] },
    texts: { changed: [], notExamined: [] },
  };
  const after = {
    floats: { changed: [], notExamined: ["shop.t.price", "shop.u.weight"] },
    texts: { changed: [], notExamined: ["shop.t.title"] },
  };
  expect(columnsNotExamined([before, after])).toEqual([
    { name: "shop.t.price", why: "float_not_examined" },
    { name: "shop.u.weight", why: "float_not_examined" },
    { name: "shop.t.title", why: "text_not_examined" },
  ]);
});
