import type { Layout } from "../state/layout.ts";
import { RunError } from "../errors/run-error.ts";
import { signedSource } from "./signed-source.ts";
import { formatIdentity, holdToPin, readSourcePins } from "./source-pins.ts";

/** For people: the fault, and the one command that accepts it. */
export function notPinned(slug: string): string {
  return (
    `${slug} is not the database that is pinned under this name. Its restore tests can't run until you confirm it: ` +
    `if it is the right one, \`attestore source confirm ${slug}\``
  );
}

/**
 * Checks that a backup is of a database that belongs to its source. Whatever a receipt of an
 * earlier version leaves out is not checked. The caller holds the `work` lock. @throws RunError
 * identity_changed
 */
export async function requirePinned(
  layout: Layout,
  slug: string,
  backup: { readonly id: string; readonly sourceMetadata: Readonly<Record<string, unknown>> },
): Promise<void> {
  const identity = signedSource(backup.sourceMetadata)?.identity ?? null;
  if (identity === null) return;
  if (await holdToPin(layout, slug, { identity, seenIn: backup.id, isNow: false })) return;
  const pinned = (await readSourcePins(layout)).get(slug)?.accepted.at(-1)?.identity ?? {};
  throw new RunError(
    "identity_changed",
    `${backup.id} is of another database (${formatIdentity(identity)}) than the one pinned for ${slug} ` +
      `(${formatIdentity(pinned)}). If that is right, run \`attestore source confirm ${slug}\` and test it again.`,
  );
}
