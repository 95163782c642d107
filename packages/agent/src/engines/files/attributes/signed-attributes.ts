import type { ForeignMetadata } from "../../engine.ts";
import { contentTag } from "../../content/content-tag.ts";
import { recordOf } from "../../content/expected-content.ts";
import type { ArchivedAttributes } from "./attribute-digests.ts";

/** Signed in a backup's metadata. Tags are keyed, because a few paths and values can be guessed. */
export interface SignedAttributes {
  readonly times: {
    readonly count: number;
    readonly tag: string;
    readonly seconds: string;
    /** This and the others in the archive: absent in backups of agents before 27 November 2026. */
    readonly archived?: string;
  };
  /** Absent in backups of agents from before 25 November 2026. */
  readonly owners?: { readonly count: number; readonly tag: string };
  readonly acls: {
    readonly count: number;
    readonly tag: string;
    readonly shape: string;
    readonly archived?: string;
  };
  readonly xattrs: { readonly count: number; readonly tag: string };
  /** Those with `=` or `%` in their names; absent if there are none, and in earlier backups. */
  readonly escaped_xattrs?: { readonly count: number; readonly tag: string };
  /** Includes `escaped_xattrs`: an earlier agent that tests the backup does not compare them. */
  readonly other_xattrs: number;
  /** Those outside of `user.`, as the archive has them. */
  readonly outside_xattrs?: { readonly count: number; readonly tag: string };
  readonly unwritable: number;
  /** Present if tar could not read all ACLs and extended attributes: the archive lacks some. */
  readonly unread?: true;
  /** How many sockets the source had, which no backup has; absent if there were none. */
  readonly sockets?: number;
  /** How many names of pipes were links of others, which no backup has; absent if none. */
  readonly linked_pipes?: number;
}

export function signAttributes(
  archived: ArchivedAttributes,
  key: Buffer,
  {
    hasUnread = false,
    sockets = 0,
    linkedPipes = 0,
  }: { readonly hasUnread?: boolean; readonly sockets?: number; readonly linkedPipes?: number } = {},
): SignedAttributes {
  const { times, owners, acls, xattrs, escapedXattrs: escaped, otherXattrs: others, unwritable } = archived;
  return {
    times: {
      count: times.count,
      tag: attributesTag(key, "times", times.sha256),
      seconds: attributesTag(key, "seconds", times.seconds),
      archived: attributesTag(key, "archived_times", times.archived),
    },
    owners: { count: owners.count, tag: attributesTag(key, "owners", owners.sha256) },
    acls: {
      count: acls.count,
      tag: attributesTag(key, "acls", acls.sha256),
      shape: attributesTag(key, "shape", acls.shape),
      archived: attributesTag(key, "archived_acls", acls.archived),
    },
    xattrs: { count: xattrs.count, tag: attributesTag(key, "xattrs", xattrs.sha256) },
    ...(escaped.count === 0
      ? {}
      : {
          escaped_xattrs: {
            count: escaped.count,
            tag: attributesTag(key, "escaped_xattrs", escaped.sha256),
          },
        }),
    other_xattrs: others.count + escaped.count,
    outside_xattrs: { count: others.count, tag: attributesTag(key, "outside_xattrs", others.sha256) },
    unwritable,
    ...(hasUnread ? { unread: true } : {}),
    ...(sockets === 0 ? {} : { sockets }),
    ...(linkedPipes === 0 ? {} : { linked_pipes: linkedPipes }),
  };
}

/** How many extended attributes a test compares. */
export function countXattrs({ xattrs, escaped_xattrs: escaped }: SignedAttributes): number {
  return xattrs.count + (escaped?.count ?? 0);
}

export type AttributesPart =
  | "times"
  | "seconds"
  | "archived_times"
  | "owners"
  | "acls"
  | "shape"
  | "archived_acls"
  | "xattrs"
  | "escaped_xattrs"
  | "outside_xattrs";

export function attributesTag(key: Buffer, what: AttributesPart, sha256: string): string {
  return contentTag(key, [what, sha256]);
}

/** We received the metadata: null if they have no attributes to compare with. */
export function signedAttributes(metadata: ForeignMetadata): SignedAttributes | null {
  const attributes = recordOf(metadata["attributes"]);
  const { times, owners, acls, xattrs, escaped_xattrs, other_xattrs, outside_xattrs, unwritable } =
    attributes;
  const { sockets = 0, linked_pipes: linkedPipes = 0 } = attributes;
  const time = recordOf(times);
  const acl = recordOf(acls);
  const xattr = recordOf(xattrs);
  const counts = [time["count"], acl["count"], xattr["count"], other_xattrs, unwritable];
  counts.push(sockets, linkedPipes);
  const tags = [time["tag"], time["seconds"], acl["tag"], acl["shape"], xattr["tag"]];
  tags.push(...[time, acl].flatMap(({ archived }) => (archived === undefined ? [] : [archived])));
  for (const each of [owners, escaped_xattrs, outside_xattrs]) {
    if (each === undefined) continue;
    counts.push(recordOf(each)["count"]);
    tags.push(recordOf(each)["tag"]);
  }
  if (!counts.every(isCount) || !tags.every(isTag)) return null;
  return metadata["attributes"] as SignedAttributes;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTag(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{32}$/.test(value);
}
