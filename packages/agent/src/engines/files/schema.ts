import { createHash } from "node:crypto";

export const DUMP_FORMAT = "tar";

/**
 * A tree has no schema that could drift. Its content changes with every backup, as
 * `manifest_sha256` shows. Only the way in which it is stored must stay the same.
 */
export const SCHEMA_HASH = createHash("sha256")
  .update(JSON.stringify([DUMP_FORMAT, "manifest", 1]))
  .digest("hex");
