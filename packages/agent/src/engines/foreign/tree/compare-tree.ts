import { createHmac } from "node:crypto";
import { type CheckOutcome, plural } from "@attestore/proof";
import { attributesCheck, digestCheck } from "../../../checks/index.ts";
import { contentTag } from "../../content/content-tag.ts";
import type { Aspect, TreeSummed } from "../../files/tree/tree-sums.ts";
import type { Archived } from "./archived-tree.ts";
import type { ListedTree } from "./listed-tree.ts";

export interface FoundTree {
  readonly archived: Archived;
  readonly restored: TreeSummed;
  /** Whether any time of the restored tree has a fraction of a second. */
  readonly keepsFractions: boolean;
  readonly listed: ListedTree | null;
}

/** What a restore must bring back, with the words for it. */
const WORDS: Readonly<Partial<Record<Aspect, string>>> = {
  names: "names",
  others: "pipes",
  targets: "links",
  sizes: "sizes",
  contents: "contents",
  modes: "permissions",
};
/** In a listing and in the archive of the same snapshot. */
const LISTED: readonly Aspect[] = ["names", "sizes"];

/** For the digests of a tree, which a place gets that must not have the backup's own key. */
export function treeKey(contentKey: Buffer): Buffer {
  return createHmac("sha256", contentKey).update("tree").digest();
}

/** Compares what an archive held with the tree that came of it, and with what its maker lists. */
export function compareTree(
  { archived, restored, keepsFractions, listed: found }: FoundTree,
  key: Buffer,
  duration: () => number,
): CheckOutcome[] {
  const { summed, links, acls, xattrs } = archived;
  const listed = found === null ? null : asArchived(found, summed);
  // A listing does not say which names are of the same file.
  const whyNotListed = listed?.why ?? (links.length > 0 ? "restic's archive has hard links" : null);
  const manifest = digestOf("manifest", "restored tree is not what its archive holds", {
    aspects: Object.keys(WORDS) as Aspect[],
    should: summed,
    is: restored,
    key,
    duration_ms: duration(),
  });
  const listing =
    listed === null || whyNotListed !== null
      ? []
      : [
          digestOf("listing", "archive that restic makes is not what it lists", {
            aspects: LISTED,
            should: listed.summed,
            is: summed,
            key,
            duration_ms: duration(),
          }),
        ];
  const compared: Compared[] = [];
  const notCompared: string[] = [];
  const tag = (of: TreeSummed, aspect: Aspect): string => contentTag(key, [aspect, of[aspect]?.sum ?? ""]);
  const isCoarse =
    !isSame("times", summed, restored) && !keepsFractions && isSame("seconds", summed, restored);
  const times = isCoarse ? "seconds" : "times";
  compared.push(["times", summed.times?.count ?? 0, tag(restored, times), tag(summed, times)]);
  if (isCoarse) notCompared.push("times below a second (the sandbox's file system does not keep them)");
  if (listed === null) notCompared.push("owners");
  else if (whyNotListed !== null) notCompared.push(`owners, and restic's listing (${whyNotListed})`);
  else if (isSame("owners", listed.summed, summed))
    compared.push(["owners", summed.owners?.count ?? 0, tag(summed, "owners"), tag(listed.summed, "owners")]);
  else notCompared.push("owners (restic's archive has others than its listing)");
  notCompared.push(...(listed === null || whyNotListed !== null ? [] : notListedAlike(listed, summed)));
  if (acls > 0) notCompared.push(`${plural(acls, "ACL")} (not restored)`);
  if (xattrs > 0) notCompared.push(`${plural(xattrs, "extended attribute")} (not restored)`);
  const attributes = attributesCheck({ compared, notCompared, duration_ms: duration() });
  return [manifest, ...listing, attributes];
}

type Compared = [kind: string, count: number, is: string, shouldBe: string];

interface Listed extends ListedTree {
  readonly hasEmptyFiles: boolean;
}

/** For each pipe, device and socket, some versions of restic archive an empty file. */
function asArchived(listed: ListedTree, archived: TreeSummed): Listed {
  const { othersAsFiles } = listed;
  const hasEmptyFiles =
    listed.others > 0 && LISTED.every((aspect) => isSame(aspect, othersAsFiles, archived));
  return hasEmptyFiles ? { ...listed, summed: othersAsFiles, hasEmptyFiles } : { ...listed, hasEmptyFiles };
}

/**
 * Where restic's archive differs from its listing: some versions of restic round times, or leave
 * out what an archive need not contain. The snapshot itself has it.
 */
function notListedAlike({ summed: listed, others, hasEmptyFiles }: Listed, archived: TreeSummed): string[] {
  // The archive's times are whole seconds then.
  const isRounded = listed.rounded?.sum === archived.seconds?.sum;
  return [
    ...(isSame("modes", listed, archived) ? [] : ["listed permissions (restic's archive has others)"]),
    ...(isSame("times", listed, archived)
      ? []
      : [
          isRounded
            ? "times below a second (restic's archive has none)"
            : "listed times (restic's archive has others)",
        ]),
    ...(others > 0 && archived.others === undefined
      ? [
          `${plural(others, "pipe, device or socket", "pipes, devices and sockets")} (restic's archive has ${hasEmptyFiles ? "empty files" : "none"})`,
        ]
      : []),
  ];
}

function isSame(aspect: Aspect, a: TreeSummed, b: TreeSummed): boolean {
  return a[aspect]?.sum === b[aspect]?.sum && a[aspect]?.count === b[aspect]?.count;
}

interface Digested {
  readonly aspects: readonly Aspect[];
  readonly should: TreeSummed;
  readonly is: TreeSummed;
  readonly key: Buffer;
  readonly duration_ms: number;
}

function digestOf(
  name: string,
  what: string,
  { aspects, should, is, key, duration_ms }: Digested,
): CheckOutcome {
  const of = (summed: TreeSummed): string => {
    const sums = aspects.map((aspect) => [aspect, summed[aspect]?.count ?? 0, summed[aspect]?.sum ?? ""]);
    return createHmac("sha256", key)
      .update(JSON.stringify([name, sums]))
      .digest("hex");
  };
  const held = digestCheck({ name, expectedSha256: of(should), observedSha256: of(is), duration_ms });
  const differing = aspects.filter((aspect) => !isSame(aspect, should, is)).map((aspect) => WORDS[aspect]);
  if (differing.length === 0) return held;
  const error = `the ${what}: ${differing.join(", ")}. Restore it by hand and compare with the source`;
  return { ...held, observed: { error, ...held.observed } };
}
