import { MalformedArchive } from "./tar-header.ts";

/** What an archive says of a path besides its content, kind and mode. */
export interface Attributes {
  readonly modified: Moment;
  /** By number. */
  readonly user: bigint;
  readonly group: bigint;
  /** Null without an ACL that says more than the mode. */
  readonly acl: Acl | null;
  /**
   * Everything that the archive says of ACLs, with users by name too. Null if that is nothing.
   */
  readonly archivedAcls: string | null;
  /** Those of `user.`, sorted by name. */
  readonly xattrs: readonly Xattr[];
  /** Those of `user.` with `=` or `%` in their names, as tar 1.34 archives them. */
  readonly escapedXattrs: readonly Xattr[];
  /** All others, such as `security.capability`, sorted by name. */
  readonly otherXattrs: readonly Xattr[];
  /** Whether tar puts extended attributes on the file before its content. */
  readonly isMadeWithXattrs: boolean;
}

/** As bytes (latin1). */
export type Xattr = readonly [name: string, value: string];

/** Nanoseconds since 1970. */
export type Moment = bigint;

export interface Acl {
  /**
   * As the kernel keeps it, so with users by number. Null if tar did not archive it in this form.
   */
  readonly numeric: string | null;
  /** The same with `?` for each user and group. */
  readonly shape: string;
}

const XATTR = "SCHILY.xattr.";
const USER = `${XATTR}user.`;
const ACCESS = "system.posix_acl_access";
const DEFAULT = "system.posix_acl_default";
const [ACCESS_TEXT, DEFAULT_TEXT] = ["SCHILY.acl.access", "SCHILY.acl.default"];
const ACL_KEYWORDS = [ACCESS_TEXT, DEFAULT_TEXT, XATTR + ACCESS, XATTR + DEFAULT];

/** Values from the header itself, where no pax record has them. */
export interface HeaderAttributes {
  /** Seconds since 1970. */
  readonly modified: number | bigint;
  readonly user: number | bigint;
  readonly group: number | bigint;
}

/** @throws MalformedArchive */
export function attributesOf(header: HeaderAttributes, pax: ReadonlyMap<string, string>): Attributes {
  const all = [...pax].filter(([keyword]) => keyword.startsWith(XATTR));
  const xattrsOf = (isWanted: (keyword: string) => boolean): Xattr[] =>
    all
      .filter(([keyword]) => isWanted(keyword))
      .map(([keyword, value]) => [unescaped(keyword.slice(XATTR.length)), value] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const isOwn = (keyword: string): boolean => keyword.startsWith(USER);
  const isAcl = (keyword: string): boolean => [ACCESS, DEFAULT].includes(keyword.slice(XATTR.length));
  return {
    modified: momentOf(pax.get("mtime")) ?? BigInt(header.modified) * NANO,
    user: ownerOf(pax.get("uid")) ?? BigInt(header.user),
    group: ownerOf(pax.get("gid")) ?? BigInt(header.group),
    acl: aclOf(pax),
    archivedAcls: ACL_KEYWORDS.some((keyword) => pax.has(keyword))
      ? JSON.stringify(ACL_KEYWORDS.map((keyword) => pax.get(keyword) ?? null))
      : null,
    xattrs: xattrsOf((keyword) => isOwn(keyword) && !keyword.includes("%")),
    escapedXattrs: xattrsOf((keyword) => isOwn(keyword) && keyword.includes("%")),
    otherXattrs: xattrsOf((keyword) => !isOwn(keyword) && !isAcl(keyword)),
    isMadeWithXattrs: all.length > 0,
  };
}

/** tar writes `=` in a name as `%3D`, because it ends a pax keyword, and so `%` as `%25`. */
function unescaped(name: string): string {
  return name.replaceAll(/%(?:3D|25)/g, (code) => (code === "%25" ? "%" : "="));
}

const NANO = 1_000_000_000n;

function momentOf(text: string | undefined): Moment | null {
  if (text === undefined) return null;
  const [, sign, seconds, fraction = ""] = /^(-?)([0-9]{1,18})(?:\.([0-9]{1,9}))?$/.exec(text) ?? [];
  if (seconds === undefined) throw new MalformedArchive("a time is not a number of seconds");
  const moment = BigInt(seconds) * NANO + BigInt(fraction.padEnd(9, "0"));
  return sign === "-" ? -moment : moment;
}

function ownerOf(digits: string | undefined): bigint | null {
  if (digits === undefined) return null;
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(digits)) throw new MalformedArchive("an owner is not a number");
  return BigInt(digits);
}

function aclOf(pax: ReadonlyMap<string, string>): Acl | null {
  const numbers = [numericOf(pax.get(XATTR + ACCESS), true), numericOf(pax.get(XATTR + DEFAULT), false)];
  const own = shapeOf(pax.get(ACCESS_TEXT) ?? "");
  const inherited = shapeOf(pax.get(DEFAULT_TEXT) ?? "");
  // tar also writes an ACL that only repeats the mode. Every other one has a mask.
  const hasMask = own.some((line) => line.startsWith("mask::"));
  if (!hasMask && inherited.length === 0) return null;
  const access = hasMask ? own.filter((line) => !isOfMode(line)) : [];
  return {
    numeric: numbers.every((each) => each === null) ? null : numbers.map((each) => each ?? "").join("/"),
    shape: JSON.stringify([access, inherited]),
  };
}

/** `user:daemon:rwx` without who it is. */
function shapeOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.replace(/[ \t]*#.*$/, "").replace(/^([a-z]+):[^:]+:/, "$1:?:"))
    .filter((line) => line !== "")
    .toSorted();
}

function isOfMode(line: string): boolean {
  return /^(?:user::|mask::|other::)/.test(line);
}

const VERSION_BYTES = 4;
const ENTRY_BYTES = 8;
/** USER_OBJ, MASK and OTHER, which the mode has too. */
const TAGS_OF_MODE: readonly number[] = [0x01, 0x10, 0x20];

/** acl(5) as the kernel stores it: a version, then entries of a tag, permissions and a number. */
function numericOf(value: string | undefined, isAccess: boolean): string | null {
  if (value === undefined) return null;
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length < VERSION_BYTES || (bytes.length - VERSION_BYTES) % ENTRY_BYTES !== 0)
    throw new MalformedArchive("an ACL is malformed");
  const entries: string[] = [];
  for (let at = VERSION_BYTES; at < bytes.length; at += ENTRY_BYTES) {
    const tag = bytes.readUInt16LE(at);
    if (isAccess && TAGS_OF_MODE.includes(tag)) continue;
    entries.push(bytes.toString("hex", at, at + ENTRY_BYTES));
  }
  return entries.join(",");
}
