import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import type { CheckOutcome } from "@attestore/proof";
import { contentCheck } from "../../../checks/index.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { writeInPlace } from "../../../sandboxes/isolation/write-in-place.ts";
import type { Place } from "../../../sandboxes/place.ts";
import { contentDigest } from "../../content/content-digest.ts";
import { contentTag } from "../../content/content-tag.ts";

/** SHA-256 in hex of a dump that is a database's file, and of the file that was written. */
export interface WrittenFile {
  readonly dump: string;
  /** Null if it could not be read back. */
  readonly written: string | null;
}

/**
 * Writes a database's file, and reads it back before SQLite opens it.
 * @throws RunError, and whatever the content throws.
 */
export async function writeAndReadBack(
  place: Place,
  path: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<WrittenFile> {
  const hash = createHash("sha256");
  const hashed = (async function* () {
    for await (const piece of content) {
      hash.update(piece);
      yield piece;
    }
  })();
  await writeInPlace(place, path, hashed, signal);
  const child = await place.start({ command: "/bin/sh", args: ["-c", 'sha256sum <"$0"', path], signal });
  child.stdin.end();
  const output = await text(child.stdout);
  await child.exited;
  stopIfAborted(signal);
  return { dump: hash.digest("hex"), written: /^([0-9a-f]{64}) /.exec(output)?.[1] ?? null };
}

/** Every table is in the file, so all of them are compared at once. Null if nothing was read. */
export function compareFile(
  { dump, written }: WrittenFile,
  {
    tables,
    key,
    duration_ms,
  }: { readonly tables: number; readonly key: Buffer; readonly duration_ms: number },
): CheckOutcome | null {
  if (written === null || tables === 0) return null;
  const digest = (sha256: string): string =>
    contentDigest([["database", contentTag(key, ["database", sha256])]]);
  return contentCheck({
    query: "every byte of the database's file",
    tables,
    differing: dump === written ? [] : ["the database's file"],
    notCompared: { names: [], count: 0 },
    expectedSha256: digest(dump),
    sha256: digest(written),
    signedSha256: digest(dump),
    duration_ms,
  });
}
