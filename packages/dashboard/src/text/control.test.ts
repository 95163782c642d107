import { expect, test } from "vitest";
import { controlText } from "./control.ts";

const at = "2026-11-23T10:00:00.000Z";

test("a check's negative control says when it failed and what it would not notice", () => {
  expect(controlText(undefined)).toEqual([]);
  expect(
    controlText({
      at,
      noticed: ["an empty public.orders"],
      not_noticed: ["public.orders.note null in every row"],
      not_tried: [],
    }),
  ).toEqual([
    expect.stringMatching(/^Last shown to fail on .*2026.*, by an empty public.orders$/),
    "Would not notice public.orders.note null in every row",
  ]);
  expect(controlText({ at, noticed: [], not_noticed: ["an empty public.orders"], not_tried: [] })).toEqual([
    "Noticed nothing that was tried",
    "Would not notice an empty public.orders",
  ]);
});
