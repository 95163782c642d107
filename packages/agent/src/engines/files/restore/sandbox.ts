import { endedWith, type Exit } from "../../../processes/child.ts";
import { RunError } from "../../../errors/run-error.ts";
import { DEFAULT_LIMITS, type SourceLimits } from "../../../config/source-limits.ts";
import { type ForeignMetadata, type Restored, RestoreRefused, type Sandbox } from "../../engine.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import type { Attributes } from "../tar/attributes.ts";
import { AttributeDigests } from "../attributes/attribute-digests.ts";
import { extractTree } from "./extract-tree.ts";
import { gnuTarVersion } from "../tar/gnu-tar.ts";
import { RestoredFiles } from "./restored.ts";
import { countXattrs, type SignedAttributes, signedAttributes } from "../attributes/signed-attributes.ts";
import { MalformedArchive } from "../tar/tar-header.ts";
import { TarReader, type TarSink } from "../tar/tar-reader.ts";
import { looksLikeWarning, NOTHING_UNSET } from "../tar/tar-warnings.ts";
import { treeTooLarge } from "../tree/too-large.ts";
import type { TreeEntry } from "../tree-entry.ts";

export async function findFilesSandbox(metadata: ForeignMetadata): Promise<Sandbox> {
  const engine_version = await gnuTarVersion(AbortSignal.timeout(60_000));
  const attributes = attributeOptions(signedAttributes(metadata));
  return {
    runtime: { kind: "process", engine: "files", engine_version },
    restore: (content, context) => {
      const { bytes } = metadata;
      if (typeof bytes === "number" && Number.isSafeInteger(bytes)) context.confinement?.mayHaveHoles(bytes);
      return restore(content, attributes, context);
    },
  };
}

/** A tar that is asked for extended attributes fails on a file that its owner can't write to. */
function attributeOptions(signed: SignedAttributes | null): string[] {
  const hasAcls = signed !== null && signed.acls.count > 0;
  const hasXattrs = signed !== null && countXattrs(signed) > 0 && signed.unwritable === 0;
  return [
    hasAcls ? "--acls" : "--no-acls",
    ...(hasXattrs ? ["--xattrs", "--xattrs-include=user.*"] : ["--no-xattrs"]),
  ];
}

async function restore(
  content: AsyncIterable<Buffer>,
  attributes: readonly string[],
  context: RunContext,
): Promise<Restored> {
  const entries = new SafeEntries(context.limits ?? DEFAULT_LIMITS);
  const { place, tree, unset } = await extractTree(
    whatIsSafe(content, entries),
    {
      options: ["--preserve-permissions", ...attributes],
      judge: (exit) => {
        if (exit.code !== 0) throw refusalOf(exit);
      },
    },
    context,
  );
  return new RestoredFiles(place, tree, context.signal, {
    attributes: entries.attributes.finish(),
    unset: entries.hasForgedWarning ? NOTHING_UNSET : unset,
  });
}

/**
 * Passes the archive on after checking it. After a refusal it reads the rest without passing it on,
 * because only the end tells whether the archive was complete.
 */
async function* whatIsSafe(
  content: AsyncIterable<Buffer>,
  entries: SafeEntries,
): AsyncGenerator<Buffer, void, undefined> {
  const reader = new TarReader(entries);
  let refusal: RestoreRefused | RunError | null = null;
  const orRefuse = async (look: () => void | Promise<void>): Promise<void> => {
    try {
      await look();
    } catch (error) {
      if (error instanceof MalformedArchive)
        refusal = new RestoreRefused(`not the tar archive of a backup: ${error.message}`);
      else if (error instanceof RunError || error instanceof RestoreRefused) refusal = error;
      else throw error;
    }
  };
  for await (const piece of content) {
    if (refusal !== null) continue;
    await orRefuse(() => reader.push(piece));
    if (refusal === null) yield piece;
  }
  if (refusal === null) await orRefuse(() => reader.end());
  if (refusal !== null) throw refusal;
}

class SafeEntries implements TarSink {
  readonly attributes = new AttributeDigests();
  /** Whether a name could be taken for a line of tar's. */
  hasForgedWarning = false;
  readonly #limits: SourceLimits;
  #logicalBytes = 0;

  constructor(limits: SourceLimits) {
    this.#limits = limits;
  }

  entry(entry: TreeEntry, attributes: Attributes): void {
    this.attributes.add(entry, attributes);
    const xattrs = [...attributes.xattrs, ...attributes.escapedXattrs].map(([name]) => name);
    this.hasForgedWarning ||= [entry.path, ...xattrs].some(looksLikeWarning);
    if (entry.kind === "file") this.#logicalBytes += entry.size;
    if (this.#logicalBytes > this.#limits.logicalBytes) throw treeTooLarge(this.#limits.logicalBytes);
    if (entry.kind === "device") {
      throw new RunError(
        "sandbox_lacks",
        "the backup contains a device file, which a sandbox must not create: back up a directory without one",
      );
    }
  }
  content(): void {}
  hole(): void {}
  entryEnd(): void {}
}

const OF_THE_ARCHIVE =
  /: (?:No such file or directory|File exists|Is a directory|Not a directory|File name too long)$/m;

/**
 * The checks before tar find nearly everything that can be wrong with the archive itself. So except
 * for a few cases, what fails now is the sandbox's fault.
 */
function refusalOf(exit: Exit): RunError | RestoreRefused {
  // Leave out which entry it was: here, names are data.
  const why = /: (Cannot [a-z ]{1,40}).*: ([A-Z][a-z ]{1,60})$/m.exec(exit.stderr);
  const message = `tar ended with ${endedWith(exit)}${why === null ? "" : `: ${why[1]?.trim()}: ${why[2]}`}`;
  return OF_THE_ARCHIVE.test(exit.stderr)
    ? new RestoreRefused(message)
    : new RunError("sandbox_failed", message);
}
