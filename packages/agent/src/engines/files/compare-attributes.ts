import { plural } from "@attestore/proof";
import type { CheckOutcome } from "@attestore/proof";
import { attributesCheck } from "../../checks/index.ts";
import type { ArchivedAttributes } from "./attribute-digests.ts";
import type { AttributesDigest } from "./owners.ts";
import { attributesTag, type SignedAttributes } from "./signed-attributes.ts";
import type { TimesDigest } from "./times.ts";

/** What was found in a restored tree. */
export interface FoundAttributes {
  readonly times: TimesDigest;
  /** Of the archive that was restored, because a sandbox's user can't give files away. */
  readonly owners: AttributesDigest | null;
  /** Null if the backup has neither ACLs nor extended attributes; or why they could not be read. */
  readonly others: ArchivedAttributes | "no_time" | "not_read" | null;
  /** What tar said while it restored the tree. */
  readonly warnings: string;
  readonly duration_ms: number;
}

/** tar's words for what it could not set. The file does not matter here: names are data. */
const NO_ACL = /Cannot acl_|POSIX ACL/;
const NO_XATTR = /extended attribute|XATTR support/;

/** Whatever the sandbox could not set is named, and does not count as held. */
export function compareAttributes(
  signed: SignedAttributes,
  { times, owners, others, warnings, duration_ms }: FoundAttributes,
  key: Buffer,
): CheckOutcome {
  const compared: [kind: string, count: number, is: string, shouldBe: string][] = [];
  const notCompared: string[] = [];
  if (signed.owners === undefined || owners === null) notCompared.push("owners");
  else {
    const tag = attributesTag(key, "owners", owners.sha256);
    compared.push(["owners", signed.owners.count, tag, signed.owners.tag]);
    notCompared.push("the restored files' owners (only the archive's)");
  }

  const exact = attributesTag(key, "times", times.sha256);
  const seconds = attributesTag(key, "seconds", times.seconds);
  const isCoarse = exact !== signed.times.tag && times.isWhole && seconds === signed.times.seconds;
  if (isCoarse) {
    notCompared.push("times below a second (the sandbox's file system does not keep them)");
    compared.push(["times", times.count, seconds, signed.times.seconds]);
  } else compared.push(["times", times.count, exact, signed.times.tag]);

  if (signed.acls.count > 0) {
    const many = manyOf(signed.acls.count, "ACL");
    if (others === null || typeof others === "string") notCompared.push(`${many} (${others ?? "not_read"})`);
    else {
      const is = attributesTag(key, "acls", others.acls.sha256);
      const shape = attributesTag(key, "shape", others.acls.shape);
      if (is === signed.acls.tag || (shape !== signed.acls.shape && !NO_ACL.test(warnings)))
        compared.push(["acls", signed.acls.count, is, signed.acls.tag]);
      else
        notCompared.push(
          shape === signed.acls.shape
            ? `${many} (the users have other numbers here)`
            : `${many} (the sandbox could not set them)`,
        );
    }
  }
  if (signed.xattrs.count > 0) {
    const many = manyOf(signed.xattrs.count, "extended attribute");
    if (signed.unwritable > 0) notCompared.push(`${many} (on files that are not writable)`);
    else if (others === null || typeof others === "string")
      notCompared.push(`${many} (${others ?? "not_read"})`);
    else {
      const is = attributesTag(key, "xattrs", others.xattrs.sha256);
      if (is === signed.xattrs.tag || !NO_XATTR.test(warnings))
        compared.push(["xattrs", signed.xattrs.count, is, signed.xattrs.tag]);
      else notCompared.push(`${many} (the sandbox could not set them)`);
    }
  }
  if (signed.other_xattrs > 0)
    notCompared.push(`${manyOf(signed.other_xattrs, "extended attribute")} (outside of user.)`);
  return attributesCheck({ compared, notCompared, duration_ms });
}

function manyOf(count: number, what: string): string {
  return plural(count, what);
}
