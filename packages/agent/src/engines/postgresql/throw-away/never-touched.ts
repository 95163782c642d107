import type { ConnectionReference } from "../../../config/source-fields.ts";

/** A source's own database, which no restore test may ever restore into. */
export interface NeverTouched {
  readonly slug: string;
  readonly connection: ConnectionReference;
}
