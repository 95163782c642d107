/** What tar said it could not set, of any file. */
export interface UnsetAttributes {
  readonly acls: boolean;
  readonly xattrs: boolean;
}

export const NOTHING_UNSET: UnsetAttributes = { acls: false, xattrs: false };

/**
 * tar's own words, up to a name. Where it prints a name first, each colon in it has a backslash, so
 * the first one without ends the name. It prints a line feed in a name as `\n` there, but as it is
 * where a name comes last: see `looksLikeWarning`.
 */
const NAMED = String.raw`(?:[^:\\\n]|\\.)*: (?:Warning: )?`;
const NO_ACL = new RegExp(
  "^tar: (?:acl_set_file_at: Cannot set POSIX ACLs for file '" +
    "|acl_delete_def_file_at: Cannot drop default POSIX ACLs for file '" +
    `|${NAMED}Cannot acl_from_text: ` +
    "|POSIX ACL support is not available$)",
);
const NO_XATTR =
  /^tar: (?:l?setxattr(?:at)?: Cannot set '|XATTR support is not available(?: for this tar)?$)/;

/** More than a path of 4096 bytes takes with each byte in octal. */
const MAX_LINE = 32 * 1024;

/**
 * Reads what tar writes to stderr while it extracts with `--quoting-style=escape`. Names are data:
 * none of them can look like one of tar's lines.
 */
export class TarWarnings {
  #line = "";
  #acls = false;
  #xattrs = false;

  push(text: string): void {
    const [first = "", ...lines] = text.split("\n");
    this.#extend(first);
    for (const line of lines) {
      this.#judge();
      this.#line = "";
      this.#extend(line);
    }
  }

  finish(): UnsetAttributes {
    this.#judge();
    return { acls: this.#acls, xattrs: this.#xattrs };
  }

  #extend(text: string): void {
    this.#line += text.slice(0, MAX_LINE - this.#line.length);
  }

  #judge(): void {
    this.#acls ||= NO_ACL.test(this.#line);
    this.#xattrs ||= NO_XATTR.test(this.#line);
  }
}

/** Whether this name, as it is, has a line in it that looks as if tar had written it. */
export function looksLikeWarning(name: string): boolean {
  return name.includes("\ntar: ");
}
