import { plural } from "@attestore/proof";
import type { CheckOutcome } from "@attestore/proof";
import { attributesCheck, type ComparedAttributes } from "../../../checks/index.ts";
import type { ArchivedAttributes } from "./attribute-digests.ts";
import type { AttributesDigest } from "./owners.ts";
import { attributesTag, countXattrs, type SignedAttributes } from "./signed-attributes.ts";
import type { UnsetAttributes } from "../tar/tar-warnings.ts";
import type { TimesDigest } from "./times.ts";

/** What was found in a restored tree. */
export interface FoundAttributes {
  readonly times: TimesDigest;
  /** Those in the archive that was restored, because a sandbox can't set all of them. */
  readonly archived: ArchivedAttributes | null;
  /** Null if the backup has neither ACLs nor extended attributes; or why they could not be read. */
  readonly others: ArchivedAttributes | "no_time" | "not_read" | null;
  readonly unset: UnsetAttributes;
  readonly duration_ms: number;
}

type Compared = ComparedAttributes["compared"][number];

/**
 * Whatever the sandbox could not set is named, and does not count as held. It must still be in the
 * archive as it was signed.
 */
export function compareAttributes(
  signed: SignedAttributes,
  { times, archived, others, unset, duration_ms }: FoundAttributes,
  key: Buffer,
): CheckOutcome {
  const compared: Compared[] = [];
  const notCompared: string[] = [];
  if (signed.owners === undefined || archived === null) notCompared.push("owners");
  else {
    const tag = attributesTag(key, "owners", archived.owners.sha256);
    compared.push(["owners", signed.owners.count, tag, signed.owners.tag]);
    notCompared.push("the restored files' owners");
  }

  const exact = attributesTag(key, "times", times.sha256);
  const seconds = attributesTag(key, "seconds", times.seconds);
  const isCoarse = exact !== signed.times.tag && times.isWhole && seconds === signed.times.seconds;
  if (isCoarse) notCompared.push("times below a second (the sandbox's file system does not keep them)");
  const [is, shouldBe] = isCoarse ? [seconds, signed.times.seconds] : [exact, signed.times.tag];
  const [isArchived, shouldBeArchived] =
    archived === null || signed.times.archived === undefined
      ? ["", ""]
      : [attributesTag(key, "archived_times", archived.times.archived), signed.times.archived];
  compared.push(["times", times.count, is + isArchived, shouldBe + shouldBeArchived]);

  for (const each of [compareAcls, compareXattrs, compareOutside]) {
    const found = each(signed, { archived, others, unset }, key);
    if (typeof found === "string") notCompared.push(found);
    else if (found !== null) compared.push(found);
  }
  const outside = signed.other_xattrs - (signed.escaped_xattrs?.count ?? 0);
  if (outside > 0) {
    const many = plural(outside, "extended attribute");
    notCompared.push(
      signed.outside_xattrs === undefined
        ? `${many} (outside of user.)`
        : `${many} outside of user. in the restored files`,
    );
  }
  if (signed.sockets !== undefined)
    notCompared.push(`${plural(signed.sockets, "socket")} at the source, which no backup has`);
  if (signed.linked_pipes !== undefined)
    notCompared.push(
      `links of ${plural(signed.linked_pipes, "name of a pipe", "names of pipes")}, which no backup has`,
    );
  if (signed.unread !== undefined)
    notCompared.unshift("ACLs and extended attributes that tar could not read at the source");
  return attributesCheck({ compared, notCompared, duration_ms });
}

type Restored = Pick<FoundAttributes, "archived" | "others" | "unset">;

/** Null if there are none; or what was not compared, and why. */
function compareAcls(
  { acls }: SignedAttributes,
  { archived, others, unset }: Restored,
  key: Buffer,
): Compared | string | null {
  const tagOf = (found: AttributesDigest): string => attributesTag(key, "acls", found.sha256);
  if (archived !== null && tagOf(archived.acls) !== acls.tag)
    return ["acls", archived.acls.count, tagOf(archived.acls), acls.tag];
  if (archived !== null && acls.archived !== undefined) {
    const tag = attributesTag(key, "archived_acls", archived.acls.archived);
    if (tag !== acls.archived) return ["acls", archived.acls.count, tag, acls.archived];
  }
  if (acls.count === 0) return null;
  const many = plural(acls.count, "ACL");
  if (others === null || typeof others === "string") return `${many} (${others ?? "not_read"})`;
  const is = tagOf(others.acls);
  if (is !== acls.tag && attributesTag(key, "shape", others.acls.shape) === acls.shape)
    return `${many} (the users have other numbers here)`;
  if (is !== acls.tag && unset.acls) return `${many} (the sandbox could not set them)`;
  return ["acls", acls.count, is, acls.tag];
}

function compareXattrs(
  signed: SignedAttributes,
  { archived, others, unset }: Restored,
  key: Buffer,
): Compared | string | null {
  const { xattrs, escaped_xattrs: escaped, unwritable } = signed;
  const shouldBe = xattrs.tag + (escaped?.tag ?? "");
  const tagOf = (found: ArchivedAttributes): string =>
    attributesTag(key, "xattrs", found.xattrs.sha256) +
    (escaped === undefined ? "" : attributesTag(key, "escaped_xattrs", found.escapedXattrs.sha256));
  const count = countXattrs(signed);
  if (archived !== null && tagOf(archived) !== shouldBe) return ["xattrs", count, tagOf(archived), shouldBe];
  if (count === 0) return null;
  const many = plural(count, "extended attribute");
  if (unwritable > 0) return `${many} (on files that are not writable)`;
  if (others === null || typeof others === "string") return `${many} (${others ?? "not_read"})`;
  const is = tagOf(others);
  if (is !== shouldBe && unset.xattrs) return `${many} (the sandbox could not set them)`;
  return ["xattrs", count, is, shouldBe];
}

/** Only in the archive, because no ordinary user may set them. */
function compareOutside(
  { outside_xattrs: signed }: SignedAttributes,
  { archived }: Restored,
  key: Buffer,
): Compared | null {
  if (signed === undefined || archived === null) return null;
  const { count, sha256 } = archived.otherXattrs;
  const tag = attributesTag(key, "outside_xattrs", sha256);
  return count === 0 && tag === signed.tag ? null : ["outside_xattrs", count, tag, signed.tag];
}
