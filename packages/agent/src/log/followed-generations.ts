import { replaceJsonFile } from "@attestore/host/durable-files";
import type { ServiceEventBundle } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/** The later generations of the log that this agent has followed to, for good. */
export interface FollowedGenerations {
  readonly v: 1;
  /** The event that began each of them, verified, in their order. */
  readonly began: readonly ServiceEventBundle[];
  /** When this agent followed to each, and the head that it had before. */
  readonly followed: readonly { readonly at: string; readonly kept: string | null }[];
  /** Up to this generation, the lost entries are in the spool again. */
  readonly handed_in_again: number;
}

const NONE: FollowedGenerations = { v: 1, began: [], followed: [], handed_in_again: 1 };

export async function readFollowed(layout: Layout): Promise<FollowedGenerations> {
  return ((await readJson(layout.generations)) as FollowedGenerations | null) ?? NONE;
}

export function generationOf({ began }: FollowedGenerations): number {
  return began.length + 1;
}

export async function writeFollowed(layout: Layout, followed: FollowedGenerations): Promise<void> {
  await replaceJsonFile(layout.generations, followed);
}
