/** What stands at one path of a tree. Owners and times are in the archive, but not part of it. */
export type TreeEntry = FileEntry | OtherEntry | LinkEntry;

interface Named {
  /**
   * Relative to the tree's root, `.` for the root itself, each character one byte (latin1): a name
   * on Linux is bytes, not text, and so they also compare as bytes.
   */
  readonly path: string;
}

export interface FileEntry extends Named {
  readonly kind: "file";
  /** The lower 12 bits. */
  readonly mode: number;
  /** Holes count. */
  readonly size: number;
}

export interface OtherEntry extends Named {
  readonly kind: "directory" | "fifo" | "device";
  readonly mode: number;
}

export interface LinkEntry extends Named {
  /**
   * `hardlink` is the second and every further name of what is not a directory, in the order of the
   * walk.
   */
  readonly kind: "symlink" | "hardlink";
  /** Bytes, as in `path`: a symbolic link's text, or the first name's path. */
  readonly target: string;
}
