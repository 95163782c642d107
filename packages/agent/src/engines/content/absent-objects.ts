/** Why the source's list of some objects is not in a backup's metadata. */
export type WhyAbsent =
  /** The lists from before and after the dump differ, and nobody knows which of them it has. */
  | "changed"
  /** The source did not list them, or not in time. */
  | "not_listed";

/** By field of `content`. */
export interface AbsentObjects {
  readonly privileges?: WhyAbsent;
  readonly unrestored?: WhyAbsent;
}
