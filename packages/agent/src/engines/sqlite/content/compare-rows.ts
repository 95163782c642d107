import type { CheckOutcome } from "@attestore/proof";
import { compareObjects, type ExpectedObjects, expectedObjects } from "../../content/compare-objects.ts";
import { compareTags } from "../../content/compare-tags.ts";
import { expectedContent } from "../../content/expected-content.ts";
import type { ForeignMetadata } from "../../engine.ts";
import { OBJECTS_VERSIONS } from "./objects.ts";
import type { SqliteContent } from "./row-digests.ts";
import { rowsTag } from "./sign-rows.ts";

/** Compares a restored copy with what its source held. */
export function compareRows(
  metadata: ForeignMetadata,
  { tables, notRead, objects }: SqliteContent,
  { key, duration_ms }: { readonly key: Buffer; readonly duration_ms: number },
): readonly CheckOutcome[] {
  const expected = expectedContent(metadata);
  const why = new Map(notRead.map((each) => [each.name, each.why]));
  const names = [...tables, ...notRead].map(({ name }) => name);
  const rows =
    expected === null
      ? null
      : compareTags(expected, {
          tags: new Map(tables.map((table) => [table.name, rowsTag(key, table)])),
          unnamed: names.filter((name) => !expected.named.has(name)),
          whyNot: (name) => why.get(name) ?? "not_read",
          keepsOrder: true,
          of: null,
          nameOf: (name) => name,
          query: "the rows of each table, each value with its type, in the table's order",
          duration_ms,
        });
  const expectedOfObjects = expectedOfSqlite(metadata);
  const words = {
    query: "the definition of each table, index, trigger and view, and the header's settings",
    hint: "compare what .schema of the sqlite3 shell prints of both",
  };
  return [
    ...(rows === null ? [] : [rows]),
    ...(expectedOfObjects === null
      ? []
      : [
          compareObjects(objects, expectedOfObjects, key, {
            of: null,
            duration_ms,
            words,
            notLookedAt: expectedOfObjects.version === 1 ? NOT_IN_EARLIER : [],
          }),
        ]),
  ];
}

/** What the lists of agents before 29 November 2026 lack. */
const NOT_IN_EARLIER = ["page size, journal mode and other settings of the file"];

/** Null without a list that this agent knows. */
export function expectedOfSqlite(metadata: ForeignMetadata): ExpectedObjects | null {
  return expectedObjects(metadata, "objects", OBJECTS_VERSIONS);
}
