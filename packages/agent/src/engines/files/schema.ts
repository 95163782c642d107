import { createHash } from "node:crypto";

export const DUMP_FORMAT = "tar";

/**
 * A tree has no schema that could drift: its content changes with every backup, and
 * `manifest_sha256` tells that. What has to be the same is how it is kept.
 */
export const SCHEMA_HASH = createHash("sha256")
  .update(JSON.stringify([DUMP_FORMAT, "manifest", 1]))
  .digest("hex");
