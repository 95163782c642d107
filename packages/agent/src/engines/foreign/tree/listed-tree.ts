import type { TreeSummed } from "../../files/tree/tree-sums.ts";

/** How the program that stored a tree lists it. */
export interface ListedTree {
  readonly summed: TreeSummed;
  /** The same with an empty file in place of each pipe, device and socket. */
  readonly othersAsFiles: TreeSummed;
  /** Why the listing cannot be compared; null if it can. */
  readonly why: string | null;
  /** Pipes, devices and sockets. */
  readonly others: number;
}
