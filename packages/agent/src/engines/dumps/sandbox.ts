import { holdToDigest, readCiphertext } from "../../crypto/ciphertext.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import {
  type ForeignMetadata,
  RestoreRefused,
  type Runtime,
  type Sandbox,
  type SourceOf,
} from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { findForeignSandbox, knownDump } from "../foreign/foreign-sandbox.ts";
import { readReference } from "../foreign/reference.ts";
import { originalOf } from "../foreign/original.ts";
import { openPlace } from "./open-place.ts";
import type { DumpsSettings } from "../../config/engines/dumps.ts";

/** Restores the file that a backup refers to, from its place or from a copy of the object. */
export async function findDumpsSandbox(
  metadata: ForeignMetadata,
  source: SourceOf<DumpsSettings>,
): Promise<Sandbox> {
  const original = originalOf(metadata);
  // Before the first backup nobody knows what the sandbox needs, because that depends on the dump.
  if (original["format"] === undefined) return { runtime: ANY, restore: refuseUnknown };
  const sandbox = await findForeignSandbox(knownDump(original), source);
  return {
    runtime: sandbox.runtime,
    restore: async (content, context) => {
      const reference = await readReference(content);
      if (reference.kind !== "file" || reference.sha256 !== original["sha256"])
        throw new RestoreRefused("the backup refers to a different dump than its receipt");
      const place = await openPlace(source);
      const local = await place
        .fetch({ path: reference.path, size: reference.size_bytes }, context)
        .finally(() => place.close());
      try {
        await verify(local.path, reference.sha256, context);
        // Hash it again: what is restored must be what was verified.
        const content = holdToDigest(readCiphertext({ path: local.path }), reference.sha256);
        return await sandbox.restore(content, context);
      } finally {
        await local.remove();
      }
    },
  };
}

const ANY: Runtime = { kind: "process", engine: "dumps", engine_version: "any" };

function refuseUnknown(): Promise<never> {
  return Promise.reject(new RestoreRefused("the backup does not say which dump it refers to"));
}

async function verify(path: string, sha256: string, { signal }: RunContext): Promise<void> {
  for await (const _ of holdToDigest(readCiphertext({ path }), sha256)) stopIfAborted(signal);
}
