import { RestoreRefused } from "../../engine.ts";

/** For a tree of more bytes than its source allows. */
export function treeTooLarge(logicalBytes: number): RestoreRefused {
  return new RestoreRefused(
    `the tree's files add up to more than the source's limits.logical_bytes, ${logicalBytes} bytes, holes included`,
  );
}
