import type { CheckOutcome } from "@attestore/proof";
import type { ContentComparison } from "../../engine.ts";
import { type Copy, compareWithDump } from "../content/compare-copy.ts";
import type { ArchiveContent } from "../content/read-archive.ts";
import { compareSchema } from "./compare-schema.ts";
import type { DeclaredSchema } from "./declared-sql.ts";

/**
 * Another program's dump, as read while it was restored; null for the parts that were not
 * understood.
 */
export interface ForeignDump {
  readonly content: ArchiveContent | null;
  readonly schema: DeclaredSchema | null;
}

/**
 * Compares a copy with such a dump: first its objects, then the rows.
 * @throws RunError
 */
export async function compareForeign(
  copy: Copy,
  { content, schema }: ForeignDump,
  comparison: ContentComparison,
): Promise<readonly CheckOutcome[]> {
  const started = performance.now();
  const { server, environment } = copy;
  const restored = { run: server.run, environment, version: server.runtime.engine_version };
  const objects = schema === null ? null : await compareSchema(restored, schema, comparison);
  copy.onListed();
  const budget_ms = comparison.budget_ms - (performance.now() - started);
  const rows = content === null ? [] : await compareWithDump(copy, content, { ...comparison, budget_ms });
  return [...rows, ...(objects === null ? [] : [objects])];
}
