import type { DeclaredSource, RegisteredSource } from "@attestore/contract";
import { isDeepStrictEqual } from "node:util";
import type { DatabaseTransaction, SourceLabels } from "../../platform/database/schema.ts";
import { type DeclaredBefore, insertDeclared, listSourcesNamed, setDeclared } from "./store.ts";

/**
 * Takes what an agent's heartbeat declares: registers sources that the organisation does not know,
 * and returns the ids of all that it knows afterwards. A removed source is not among them: it stays
 * removed although its agent keeps declaring it.
 */
export async function takeDeclaredSources(
  tx: DatabaseTransaction,
  agent: { id: string; orgId: string },
  declared: readonly DeclaredSource[],
): Promise<RegisteredSource[]> {
  if (declared.length === 0) return [];
  const bySlug = new Map(declared.map((source) => [source.slug, source]));
  const slugs = [...bySlug.keys()];
  let known = await listSourcesNamed(tx, agent.orgId, slugs);
  if (known.length < slugs.length) {
    const knownSlugs = new Set(known.map(({ slug }) => slug));
    const unknown = [...bySlug.values()].filter(({ slug }) => !knownSlugs.has(slug));
    await insertDeclared(
      tx,
      { orgId: agent.orgId, agentId: agent.id },
      unknown.map((source) => ({
        slug: source.slug,
        engine: source.engine,
        name: source.name ?? source.slug,
        labels: labelsOf(source),
      })),
    );
    // Reads again instead of using the inserted rows: another agent may have registered some of
    // them first.
    known = await listSourcesNamed(tx, agent.orgId, slugs);
  }
  for (const source of known) await followDeclared(tx, agent.id, source, bySlug.get(source.slug));
  return known.map(({ id, slug, agent_id }) =>
    agent_id === agent.id ? { id, slug } : { id, slug, agent_id },
  );
}

/** The host that makes the backups says what it backs up. */
async function followDeclared(
  tx: DatabaseTransaction,
  agentId: string,
  source: DeclaredBefore,
  declared: DeclaredSource | undefined,
): Promise<void> {
  if (declared === undefined || source.agent_id !== agentId) return;
  const labels = labelsOf(declared);
  if (declared.engine !== source.engine || !isDeepStrictEqual(labels, source.labels))
    await setDeclared(tx, source.id, { engine: declared.engine, labels });
}

/** As they are stored: sorted tags, and nothing in place of none. */
export function labelsOf({ tags = [], environment }: DeclaredSource): SourceLabels {
  return {
    ...(tags.length === 0 ? {} : { tags: tags.toSorted() }),
    ...(environment === undefined ? {} : { environment }),
  };
}
