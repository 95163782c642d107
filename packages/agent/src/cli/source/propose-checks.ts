import { checkId, type Proposals, type ProposedCheck } from "../../checks/index.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import type { SourceMetadata } from "../../engines/engine.ts";
import { proposals } from "../../engines/index.ts";
import { quotedName } from "../../engines/quoted-name.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { tablesOfMetadata } from "../../engines/tables-of-metadata.ts";

const MOST = 3;

/**
 * Proposes checks to start from. Each notices an empty table, and was tried on the source's data.
 * Every restore test also runs the engine's own checks.
 * @throws RunError
 */
export async function proposeChecks(
  source: SourceConfig,
  metadata: SourceMetadata | null,
  context: RunContext,
): Promise<Proposals> {
  const { checks, notProposed } = await proposals(source, context);
  const all = new Map(
    [...checks, ...proposeRowCounts(source.engine, metadata)].map((each) => [each.id, each]),
  );
  return { checks: [...all.values()], notProposed };
}

/**
 * Proposes that each of the largest tables keeps half of its present rows.
 * Proposes none if nobody has counted, because a check must be able to fail.
 */
function proposeRowCounts(engine: string, metadata: SourceMetadata | null): ProposedCheck[] {
  if (metadata === null) return [];
  const quote = QUOTES[engine];
  if (quote === undefined) return [];
  const counted = tablesOfMetadata(metadata)
    .map(({ name, rows, atLeast }) => ({ name, floor: rows === null ? atLeast : (rows + 1n) / 2n }))
    .filter((table): table is { name: string; floor: bigint } => table.floor !== null && table.floor > 0n)
    .toSorted((a, b) => (a.floor > b.floor ? -1 : a.floor < b.floor ? 1 : 0));
  const checks = new Map<string, ProposedCheck>();
  for (const { name, floor } of counted) {
    const id = idOf(name);
    if (checks.size === MOST) break;
    if (id === null || checks.has(id)) continue;
    const query = `select count(*) as n from ${quote(name)}`;
    checks.set(id, { id, query, expect: `n >= ${floor}` });
  }
  return [...checks.values()];
}

/** Quotes a name of the metadata for SQL. Names of the servers are quoted already. */
const QUOTES: Readonly<Record<string, (name: string) => string>> = {
  postgresql: (name) => name,
  mariadb: (name) => name,
  mysql: (name) => name,
  sqlite: (name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : quotedName(name)),
};

function idOf(table: string): string | null {
  const id = checkId("has", table.replace(/^.*\./, ""));
  return id === "has" ? null : id;
}
