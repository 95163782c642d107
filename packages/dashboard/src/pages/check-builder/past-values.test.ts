import type { Schemas } from "@attestore/contract/client";
import { expect, test } from "vitest";
import { pastRows } from "./past-values.ts";

const tested = (at: string, checks: object[]) =>
  ({ created_at: at, checks }) as unknown as Schemas["RestoreTestRecord"];
const rows = (id: string, value: unknown) => ({ id, observed: { rows: value } });

test("past values are the rows that restore tests counted of the table, oldest first", () => {
  const tests = [
    tested("3", [rows("inferred:rows:public.orders", 30), rows("inferred:rows:public.users", 1)]),
    tested("2", [rows("inferred:rows:public.users", 1)]),
    tested("1", [rows("inferred:rows:public.orders", 10)]),
    tested("0", [rows("inferred:rows:public.orders", "many")]),
  ];
  expect(pastRows(tests, "public.orders")).toEqual([
    { at: "1", value: 10 },
    { at: "3", value: 30 },
  ]);
  expect(pastRows(tests, "public.other")).toEqual([]);
});
