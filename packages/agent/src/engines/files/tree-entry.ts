/** What is at one path of a tree. Owners and times are in the archive, but not in here. */
export type TreeEntry = FileEntry | OtherEntry | LinkEntry;

interface Named {
  /**
   * The path relative to the tree's root, `.` for the root itself. Each character is one byte
   * (latin1), because on Linux a name consists of bytes, not text. So comparing them compares
   * bytes.
   */
  readonly path: string;
}

export interface FileEntry extends Named {
  readonly kind: "file";
  /** The lower 12 bits. */
  readonly mode: number;
  /** Includes holes. */
  readonly size: number;
}

export interface OtherEntry extends Named {
  readonly kind: "directory" | "fifo" | "device";
  readonly mode: number;
}

export interface LinkEntry extends Named {
  /**
   * `hardlink` means the second and each further name of something that is not a directory, in the
   * order of the walk.
   */
  readonly kind: "symlink" | "hardlink";
  /** As bytes, like `path`: the text of a symbolic link, or the path of the first name. */
  readonly target: string;
}
