import type { WitnessRecord } from "@attestore/contract";
import {
  formatNote,
  formatVerifierKey,
  keyOfGeneration,
  noteSignatureLine,
  noteVerifier,
  parseCheckpoint,
  parseNote,
  type NoteVerifier,
} from "@attestore/proof";
import type { Database } from "../../platform/database/schema.ts";
import type { Page } from "../../platform/http/route/pagination.ts";

export interface Witness {
  /** The agent's. */
  id: string;
  name: string;
  public_key: Buffer;
  tree_size: number;
  checkpoint: string;
  cosignature: string;
  received_at: Date;
}

/**
 * Agents whose cosignature was accepted and who are not revoked; newest agent first, one more than
 * the page takes.
 */
export async function listWitnesses(db: Database, orgId: string, page: Page): Promise<Witness[]> {
  let query = db
    .selectFrom("agent_witnesses")
    .innerJoin("agents", "agents.id", "agent_witnesses.agent_id")
    .select(["agents.id", "agents.name", "agents.public_key", "tree_size", "checkpoint", "received_at"])
    .select((columns) => columns.ref("cosignature").$notNull().as("cosignature"))
    .where("agents.org_id", "=", orgId)
    .where("agents.status", "=", "active")
    .where("cosignature", "is not", null);
  if (page.before !== null) query = query.where("agents.id", "<", page.before);
  return query
    .orderBy("agents.id", "desc")
    .limit(page.limit + 1)
    .execute();
}

export function witnessRecord(witness: Witness, log: NoteVerifier): WitnessRecord {
  const { id, name, public_key, tree_size, checkpoint, cosignature } = witness;
  return {
    agent_id: id,
    name,
    verifier_key: formatVerifierKey(noteVerifier(id, "cosignature/v1", new Uint8Array(public_key))),
    tree_size,
    checkpoint: cosigned(checkpoint, log, cosignature),
    received_at: witness.received_at.toISOString(),
  };
}

/**
 * The head as the log signed it, with that one line. Other lines in the agent's copy are by nobody
 * whom the service knows.
 */
function cosigned(checkpoint: string, log: NoteVerifier, cosignature: string): string {
  const { text, signatures } = parseNote(checkpoint);
  // Of the generation that signed it.
  const key = keyOfGeneration(log, parseCheckpoint(text).origin);
  const own = signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId);
  return formatNote(text, [
    ...own.slice(0, 1).map((line) => noteSignatureLine(line, line.signature)),
    cosignature.endsWith("\n") ? cosignature : `${cosignature}\n`,
  ]);
}
