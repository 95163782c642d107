import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { stopWhen } from "../../../processes/stop-when.ts";
import type { Place } from "../../../sandboxes/place.ts";
import { type ArchivedAttributes, AttributeDigests } from "./attribute-digests.ts";
import type { Attributes } from "../tar/attributes.ts";
import { ARCHIVING, TAR } from "../tar/gnu-tar.ts";
import { MalformedArchive } from "../tar/tar-header.ts";
import { TarReader, type TarSink } from "../tar/tar-reader.ts";
import type { TreeEntry } from "../tree-entry.ts";

/**
 * Archives a restored tree once more, in its place, because Node can't read ACLs and extended
 * attributes. Every file must be readable by now.
 * @returns why it could not, if it could not.
 */
export async function readAttributes(
  place: Place,
  tree: string,
  { budget_ms, signal }: { readonly budget_ms: number; readonly signal: AbortSignal },
): Promise<ArchivedAttributes | "no_time" | "not_read"> {
  const time = AbortSignal.timeout(Math.max(1, Math.floor(budget_ms)));
  const child = await place.start({
    command: TAR,
    args: [...ARCHIVING, `--directory=${tree}`, "."],
    signal,
  });
  const ended = stopWhen(time, child);
  child.stdin.end();
  const sink = new OnlyAttributes();
  const reader = new TarReader(sink);
  try {
    for await (const piece of child.stdout as AsyncIterable<Buffer>) await reader.push(piece);
    const exit = await child.exited;
    stopIfAborted(signal);
    if (time.aborted) return "no_time";
    if (exit.code !== 0) return "not_read";
    reader.end();
    return sink.digests.finish();
  } catch (error) {
    stopIfAborted(signal);
    if (time.aborted) return "no_time";
    if (error instanceof MalformedArchive || error instanceof RunError) return "not_read";
    throw error;
  } finally {
    ended();
    await child.stop();
  }
}

class OnlyAttributes implements TarSink {
  readonly digests = new AttributeDigests();
  entry(entry: TreeEntry, attributes: Attributes): void {
    this.digests.add(entry, attributes);
  }
  content(): void {}
  hole(): void {}
  entryEnd(): void {}
}
