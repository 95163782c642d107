import { expect, test } from "vitest";
import { withFields } from "./save-with-undo.ts";

const data = {
  pages: [
    {
      items: [
        { id: "agt_1", name: "one" },
        { id: "agt_2", name: "two" },
      ],
      next_cursor: null,
    },
  ],
};

test("new fields are in each record of the id, however deep, and everything else stays as it is", () => {
  expect(withFields(data, "agt_2", { name: "2" })).toEqual({
    pages: [
      {
        items: [
          { id: "agt_1", name: "one" },
          { id: "agt_2", name: "2" },
        ],
        next_cursor: null,
      },
    ],
  });
  expect(data.pages[0]?.items[1]?.name).toBe("two");
});

test("data without a record of the id are the same object, so nothing that shows them is drawn again", () => {
  for (const other of [data, null, undefined, "agt_3", [1, 2], new Set(["agt_3"])])
    expect(withFields(other, "agt_3", { name: "3" })).toBe(other);
});
