import type { CheckOutcome } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { releasing } from "../../../processes/coalesce.ts";
import { stopWhen } from "../../../processes/stop-when.ts";
import { compareTags } from "../../content/compare-tags.ts";
import type { ExpectedContent } from "../../content/expected-content.ts";
import type { ContentComparison } from "../../engine.ts";
import type { ScratchMongodb } from "../scratch-mongodb.ts";
import { ArchiveDigests, type CollectionContent } from "./archive-digests.ts";
import { type Look, nameOf as nameOfNamespace } from "../describe.ts";
import { tagsApart } from "./content-apart.ts";
import { documentsTag, nameOf } from "./sign-documents.ts";

/**
 * Dumps the restored copy again, as long as there is time, and compares what its collections hold.
 * Null if nothing could be compared.
 * @throws RunError
 */
export async function compareDocuments(
  server: ScratchMongodb,
  /** mongodump's path. */
  command: string,
  { namespaces }: Pick<Look, "namespaces">,
  expected: ExpectedContent,
  { key, budget_ms, signal }: Omit<ContentComparison, "metadata">,
  /** Why other documents than the archive's prove nothing. */
  uncertain: string | null = null,
): Promise<CheckOutcome | null> {
  const started = performance.now();
  const time = budget_ms < 1 ? AbortSignal.abort() : AbortSignal.timeout(Math.floor(budget_ms));
  const found = await dumpedAgain(server, command, key, { signal, time });
  stopIfAborted(signal);
  if (server.hasDied())
    throw new RunError("sandbox_failed", "the scratch server broke while collections were compared");
  const names = namespaces.filter(({ isView }) => !isView).map(nameOfNamespace);
  return compareTags(expected, {
    tags: new Map([
      ...found.complete.map((each) => [nameOf(each), documentsTag(key, each)] as const),
      ...(found.isWhole ? tagsApart({ namespaces }, found.complete, key) : []),
    ]),
    unnamed: names.filter((name) => !expected.named.has(name)),
    whyNot: () => (time.aborted ? "no_time" : "not_read"),
    keepsOrder: true,
    whyUncertain: () => uncertain,
    of: null,
    nameOf: (name) => name,
    query: "the documents of each collection, as mongodump dumps them, in any order",
    duration_ms: performance.now() - started,
  });
}

interface DumpedAgain {
  readonly complete: readonly CollectionContent[];
  /** Whether these are all. */
  readonly isWhole: boolean;
}

async function dumpedAgain(
  server: ScratchMongodb,
  command: string,
  key: Buffer,
  { signal, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
): Promise<DumpedAgain> {
  if (time.aborted) return { complete: [], isWhole: false };
  const args = [`--uri=${server.uriInside}`, "--archive"];
  // If mongodump ended in order, it would mark a collection as complete although it wrote only a
  // part of it.
  const child = await server.start({ command, args, signal, isDump: true, stopSignal: "SIGKILL" });
  const ended = stopWhen(time, child);
  const digests = new ArchiveDigests(key);
  try {
    child.stdin.end();
    for await (const piece of releasing(child.stdout)) digests.add(piece);
  } catch (error) {
    if (!time.aborted) throw error;
  } finally {
    ended();
    await child.stop();
  }
  const { code } = await child.exited;
  return {
    complete: code === 0 || time.aborted ? (digests.complete() ?? []) : [],
    isWhole: code === 0 && digests.end() !== null,
  };
}
