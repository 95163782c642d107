import { expect, test } from "vitest";
import { formatBytes } from "./bytes.ts";

test("amounts of bytes are written for people, the same in commands and in the dashboard", () => {
  expect(
    [0, 999, 1_000, 12_345, 999_499, 999_500, 999_999, 123_456_789, 5e12, 9e18].map(formatBytes),
  ).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "12.3 kB",
    "999 kB",
    "1.0 MB",
    "1.0 MB",
    "123 MB",
    "5.0 TB",
    "9000 PB",
  ]);
});
