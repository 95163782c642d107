import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { holdToDigest, readCiphertext } from "../../pipeline/ciphertext.ts";
import { CouldNotRun, stopIfAborted } from "../../runs/could-not-run.ts";
import { systemCode } from "../../root/system-code.ts";
import {
  type ForeignMetadata,
  RestoreRefused,
  type RunContext,
  type Runtime,
  type Sandbox,
  type SourceOf,
} from "../engine.ts";
import { findForeignSandbox, knownDump } from "../foreign/foreign-sandbox.ts";
import { readReference, type Reference } from "../foreign/reference.ts";
import { originalOf } from "../foreign/original.ts";
import type { DumpsSettings } from "./settings.ts";

/** Restores the very file that a backup refers to, from where it lies. */
export async function findDumpsSandbox(
  metadata: ForeignMetadata,
  source: SourceOf<DumpsSettings>,
): Promise<Sandbox> {
  const original = originalOf(metadata);
  // Of a backup that is not known yet nobody can say what it needs: that depends on what the dump is.
  if (original["format"] === undefined) return { runtime: ANY, restore: refuseUnknown };
  const sandbox = await findForeignSandbox(knownDump(original), source);
  return {
    runtime: sandbox.runtime,
    restore: async (content, context) => {
      const reference = await readReference(content);
      if (reference.kind !== "file" || reference.sha256 !== original["sha256"])
        throw new RestoreRefused("the backup refers to another dump than its receipt says");
      const path = await pathOf(source.path, reference);
      await verify(path, reference.sha256, context);
      // Once more, for what is restored has to be what was verified.
      return sandbox.restore(holdToDigest(readCiphertext({ path }), reference.sha256), context);
    },
  };
}

const ANY: Runtime = { kind: "process", engine: "dumps", engine_version: "any" };

function refuseUnknown(): Promise<never> {
  return Promise.reject(new RestoreRefused("the backup does not say which dump it refers to"));
}

async function pathOf(directory: string, { path }: Extract<Reference, { kind: "file" }>): Promise<string> {
  const wanted = join(directory, path);
  try {
    const [real, root] = await Promise.all([realpath(wanted), realpath(directory)]);
    if (real.startsWith(root + sep)) return real;
  } catch (error) {
    throw new CouldNotRun(
      "ciphertext_unavailable",
      `the dump ${wanted} that the backup refers to cannot be read (${systemCode(error)}): if it was rotated away, register a newer one with \`attestore backup\``,
      { cause: error },
    );
  }
  throw new CouldNotRun(
    "ciphertext_unavailable",
    `the dump ${wanted} is a link that leads out of ${directory}`,
  );
}

async function verify(path: string, sha256: string, { signal }: RunContext): Promise<void> {
  for await (const _ of holdToDigest(readCiphertext({ path }), sha256)) stopIfAborted(signal);
}
