import type { ConnectionReference } from "../../../config/source-fields.ts";

/** The source's own database. No restore test may restore into it. */
export interface SourceDatabase {
  readonly slug: string;
  readonly connection: ConnectionReference;
}
