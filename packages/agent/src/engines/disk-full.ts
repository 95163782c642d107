import { RunError } from "../errors/run-error.ts";
import type { SandboxKind } from "../config/sandbox-config.ts";
import type { ScratchServer } from "./scratch-server.ts";

const WHOSE: Readonly<Record<SandboxKind, readonly [string, string]>> = {
  process: ["the scratch directory's file system", "give it more space"],
  container: [
    "the container's disk",
    "give the runtime's volumes more space or, with sandbox.storage: memory, raise sandbox.memory_mb",
  ],
  uri: ["the disk of sandbox.database", "give its server more space"],
};

/** The error for a scratch server that ran out of space. This says nothing about the backup. */
export function diskFullDuringRestore({ runtime }: Pick<ScratchServer, "runtime">): RunError {
  const [what, remedy] = WHOSE[runtime.kind];
  return new RunError("disk_full", `${what} filled up during the restore: ${remedy}`);
}

/** Possible reasons for the death of a scratch server, for the end of a message. */
export function whyItDied({ runtime }: Pick<ScratchServer, "runtime">): string {
  return runtime.kind === "container" ? ": it may need more sandbox.memory_mb" : "";
}
