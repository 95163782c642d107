import { expect, test } from "vitest";
import { namedFields, otherCollections } from "./named-fields.ts";

test("fields are the names in a pipeline, as a key or after a $", () => {
  const pipeline = [
    {
      $match: {
        status: { $in: ["paid", "sent"] },
        $or: [{ "lines.count": { $gt: 1 } }, { placed_at: null }],
      },
    },
    { $group: { _id: "$customer.id", total: { $sum: "$$ROOT.amount" }, at: { $max: "$_id" } } },
    { $unwind: "$tags" },
    { $sort: { total: -1 } },
    { $count: "n" },
  ];
  expect(namedFields(pipeline)).toEqual([
    "status",
    "lines.count",
    "placed_at",
    "customer.id",
    "total",
    "amount",
    "at",
    "tags",
  ]);
  expect(
    namedFields([{ $match: { "": 1, "a..b": 1, "a.": 1, "a.$b": 1 } }, "$", "$$", "$$NOW", "$a."]),
  ).toEqual([]);
});

test("other collections are those of later stages, at any depth", () => {
  const inner = [{ $lookup: { from: "lines", as: "l", pipeline: [{ $unionWith: "old" }] } }];
  expect(otherCollections([{ $facet: { a: inner } }, { $unionWith: { coll: "new", pipeline: [] } }])).toEqual(
    ["lines", "old", "new"],
  );
  expect(otherCollections([{ $lookup: null }, { $unionWith: 1 }])).toEqual([]);
});
