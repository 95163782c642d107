import type { ScratchServer } from "../../src/engines/scratch-server.ts";

/** For what only needs to know where a restore ran. */
export const serverWithoutPrograms = (kind: "process" | "uri"): ScratchServer => ({
  runtime: { kind, engine: "postgresql", engine_version: "15.20" },
  run: () => {
    throw new Error("no program runs");
  },
  files: null,
  errors: [],
  hasRunFull: () => false,
  hasDied: () => false,
  close: () => Promise.resolve(),
});
