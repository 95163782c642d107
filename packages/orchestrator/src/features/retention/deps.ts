import type { Database } from "../../platform/database/schema.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";

export interface RetentionDeps {
  db: Database;
  objects: ObjectStore;
  logger: Logger;
  /** How long before a backup is removed its removal is announced. */
  retentionDelay_s: number;
  /** Days that an object without a record is kept before it is removed. */
  quarantineDays: number;
}
