import { expect, test } from "vitest";
import { hasLabels, labelsOf, labelWords } from "./labels.ts";

const shop = { tags: ["billing", "shop"], environment: "production" };
const plain = { tags: [], environment: null };

test("the filter offers the labels of all sources, sorted, each once", () => {
  expect(labelsOf([plain, shop, { tags: ["archive", "shop"], environment: "staging" }])).toEqual({
    tags: ["archive", "billing", "shop"],
    environments: ["production", "staging"],
  });
  expect(labelsOf([plain])).toEqual({ tags: [], environments: [] });
});

test("a source must have both the chosen tag and the chosen environment", () => {
  expect(hasLabels(plain, {})).toBe(true);
  expect(hasLabels(shop, { tag: "shop", environment: "production" })).toBe(true);
  expect(hasLabels(shop, { tag: "sho" })).toBe(false);
  expect(hasLabels(shop, { tag: "shop", environment: "staging" })).toBe(false);
  expect(hasLabels(plain, { environment: "production" })).toBe(false);
});

test("a chosen tag and environment are put into words", () => {
  expect([shop, plain, { ...shop, environment: null }].map(labelWords)).toEqual([
    "production · billing, shop",
    "",
    "billing, shop",
  ]);
});
