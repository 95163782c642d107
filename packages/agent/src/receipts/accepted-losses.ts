import { replaceJsonFile } from "@attestore/host/durable-files";
import type { AcceptedLoss } from "../checks/index.ts";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/** A loss that a person accepted, with the facts that an auditor asks for. */
export interface RecordedAcceptance extends AcceptedLoss {
  readonly because: string;
  /** The user of this host who did it. */
  readonly by: string;
}

/**
 * The accepted losses of one source, oldest first. The signed event is the record for others; this
 * one is for restore tests.
 */
export async function acceptedLosses(layout: Layout, slug: string): Promise<readonly RecordedAcceptance[]> {
  return (await readAll(layout))[slug] ?? [];
}

/** The caller holds the `work` lock. */
export async function recordAcceptances(
  layout: Layout,
  slug: string,
  more: readonly RecordedAcceptance[],
): Promise<void> {
  const sources = await readAll(layout);
  await replaceJsonFile(layout.acceptedLosses, {
    v: 1,
    sources: { ...sources, [slug]: [...(sources[slug] ?? []), ...more] },
  });
}

async function readAll(layout: Layout): Promise<Record<string, readonly RecordedAcceptance[]>> {
  const value = (await readJson(layout.acceptedLosses)) as {
    sources: Record<string, readonly RecordedAcceptance[]>;
  } | null;
  return value?.sources ?? {};
}
