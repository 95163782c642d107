import type { DeclaredSource, RegisteredSource } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { insertDeclared, listSourcesNamed, setEngine, type Source } from "./store.ts";

/**
 * Takes what an agent's heartbeat declares: registers what the organisation does not know, and
 * gives the ids of all that it knows then. One that was removed is not among them: a removal holds
 * although its agent goes on declaring.
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
      unknown.map(({ slug, engine, name }) => ({ slug, engine, name: name ?? slug })),
    );
    // Read again rather than take what was inserted: another agent may have been first with some of
    // them.
    known = await listSourcesNamed(tx, agent.orgId, slugs);
  }
  for (const source of known) await followEngine(tx, agent.id, source, bySlug.get(source.slug));
  return known.map(({ id, slug, agent_id }) =>
    agent_id === agent.id ? { id, slug } : { id, slug, agent_id },
  );
}

/** The host that makes the backups says what it backs up. */
async function followEngine(
  tx: DatabaseTransaction,
  agentId: string,
  source: Source,
  declared: DeclaredSource | undefined,
): Promise<void> {
  if (declared !== undefined && source.agent_id === agentId && declared.engine !== source.engine)
    await setEngine(tx, source.id, declared.engine);
}
