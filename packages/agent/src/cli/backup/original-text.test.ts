import { expect, test } from "vitest";
import { originalText } from "./original-text.ts";

/** What is said of a backup that refers to another program's. */

test.each([
  [
    { kind: "file", name: "orders\u001b[2J.dump", size_bytes: 2048, modified_at: "2026-11-28T02:00:00.000Z" },
    /^orders.*\.dump of 2026-11-28T02:00:00\.000Z, 2\.0 kB$/,
  ],
  [
    {
      kind: "restic",
      snapshot_id: "61c436c9".padEnd(64, "0"),
      snapshot_at: "2026-11-28T14:38:20.067593284Z",
      hostname: "db-1",
    },
    /^the snapshot 61c436c9 of the host db-1, of 2026-11-28T14:38:20\.067593284Z$/,
  ],
])("a file or snapshot is named with its time", (original, text) => {
  const said = originalText(original);
  expect(said).toMatch(text);
  expect(said).not.toContain("\u001b");
});

test.each([undefined, null, {}, { kind: "file" }, { kind: "restic", snapshot_id: 7 }])(
  "nothing is said of %o",
  (original) => expect(originalText(original)).toBeNull(),
);
