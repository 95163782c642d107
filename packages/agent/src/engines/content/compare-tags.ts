import { plural } from "@attestore/proof";
import type { CheckOutcome } from "@attestore/proof";
import { contentCheck } from "../../checks/index.ts";
import { contentDigest } from "./content-digest.ts";
import type { ExpectedContent } from "./expected-content.ts";
import { REST } from "./signed-content.ts";

/** What was read from a restored copy. */
export interface FoundContent {
  /** The tags of the tables that could be read, by table. */
  readonly tags: ReadonlyMap<string, string>;
  /** Tables of the copy that the metadata do not name and that should have a tag. */
  readonly unnamed: readonly string[];
  /** Why a table has no tag. */
  readonly whyNot: (name: string) => string;
  /** Whether rows come back in the dump's order. If not, two different tags prove nothing. */
  readonly keepsOrder: boolean;
  /**
   * Why two different tags of a table prove nothing, although its rows keep their order; null if
   * they do. Absent if they always do.
   */
  readonly whyUncertain?: (name: string) => string | null;
  /** The source's name of the database, if there are several. */
  readonly of: string | null;
  /** The table's name in messages. */
  readonly nameOf: (name: string) => string;
  /** How the engine reads rows, for the check's definition. */
  readonly query: string;
  readonly duration_ms: number;
  /** See `ComparedContent`. */
  readonly unkept?: string;
}

/** Null if nothing could be compared. */
export function compareTags(expected: ExpectedContent, found: FoundContent): CheckOutcome | null {
  const { tags, unnamed, of } = found;
  const compared: [name: string, is: string, shouldBe: string][] = [];
  const differing: string[] = [];
  const skipped: string[] = [];
  let count = 0;
  const hold = (
    name: string,
    tables: number,
    is: string | undefined,
    shouldBe: string,
    why: string,
  ): void => {
    const differs = is !== shouldBe;
    const uncertain = found.whyUncertain?.(name) ?? (found.keepsOrder ? null : "row_order");
    if (is === undefined || (differs && uncertain !== null)) {
      skipped.push(`${name} (${is === undefined ? why : uncertain})`);
      return;
    }
    count += tables;
    compared.push([name, is, shouldBe]);
    if (differs) differing.push(found.nameOf(name));
  };
  for (const [name, tag] of expected.tags) hold(name, 1, tags.get(name), tag, found.whyNot(name));
  let skippedRest = 0;
  if (expected.rest !== null) {
    const own = unnamed.flatMap((name) => {
      const tag = tags.get(name);
      return tag === undefined ? [] : [[name, tag] as const];
    });
    const missing = unnamed.find((name) => !tags.has(name));
    const before = compared.length;
    const what = `one of the ${plural(expected.rest.tables, "table")} that the receipt does not name`;
    const is = missing === undefined ? contentDigest(own) : undefined;
    hold(what, expected.rest.tables, is, expected.rest.sha256, found.whyNot(missing ?? ""));
    if (compared.length === before) skippedRest = expected.rest.tables - 1;
  }
  if (compared.length === 0) return null;
  const isOfRest = (name: string): string => (expected.tags.has(name) ? name : REST);
  return contentCheck({
    ...(of === null ? {} : { of }),
    query: found.query,
    tables: count,
    differing,
    notCompared: {
      names: [...skipped, ...expected.notCompared.names],
      count: skipped.length + skippedRest + expected.notCompared.count,
    },
    expectedSha256: contentDigest(compared.map(([name, , shouldBe]) => [isOfRest(name), shouldBe])),
    sha256: contentDigest(compared.map(([name, is]) => [isOfRest(name), is])),
    signedSha256: expected.sha256,
    duration_ms: found.duration_ms,
    ...(found.unkept === undefined ? {} : { unkept: found.unkept }),
  });
}
