import type { ConnectionReference } from "../../../root/source-fields.ts";

/** A source's own database, which no restore test may ever restore into. */
export interface NeverTouched {
  readonly slug: string;
  readonly connection: ConnectionReference;
}
