import {
  comparedContent,
  type BackupStatement,
  type NoteVerifier,
  openDraw,
  type RestoreTestStatement,
  type Statement,
  toHex,
} from "@attestore/proof";
import {
  type ComparedDigest,
  comparedDigests,
  type SignedDigests,
  signedDigests,
} from "./content-digests.ts";

type Run = Pick<
  Statement["predicate"],
  "agent_id" | "source_id" | "backup_id" | "started_at" | "finished_at" | "previous_receipt_sha256"
>;

/**
 * The part of a receipt's statement that the checks of a whole pack need. A statement names every
 * table, column and check of its source, so a pack's statements together may be larger than the
 * memory.
 */
export type KeptStatement = KeptBackup | KeptTest;

interface OfBackup {
  /** Hex, as the subject names it. */
  ciphertextSha256: string;
}

export interface KeptBackup extends OfBackup, Pick<BackupStatement, "predicateType"> {
  predicate: Run;
  digests: SignedDigests[];
}

export interface KeptTest extends OfBackup, Pick<RestoreTestStatement, "predicateType"> {
  predicate: Run & Pick<RestoreTestStatement["predicate"], "result" | "phases">;
  compared: ComparedDigest[];
  /** How many tables' content was compared; null if none was. */
  tables: number | null;
  /** Null if something else chose the backup. */
  draw: KeptDraw | null;
}

/** How a test's backup was drawn; its fields are those of `OpenedDraw`. */
export interface KeptDraw {
  eventId: string;
  logIndex: number;
  origin: string;
  bodySha256: string;
  /** Hex. */
  rootHash: string;
}

/** `draw`: from `keptDraw`. */
export function keptStatement(statement: Statement, draw: KeptDraw | null = null): KeptStatement {
  const { agent_id, source_id, backup_id, started_at, finished_at, previous_receipt_sha256 } =
    statement.predicate;
  const run = { agent_id, source_id, backup_id, started_at, finished_at, previous_receipt_sha256 };
  const ciphertextSha256 = statement.subject[0].digest.sha256;
  if (!isRestoreTest(statement))
    return {
      ciphertextSha256,
      predicateType: statement.predicateType,
      predicate: run,
      digests: signedDigests(statement.predicate.source_metadata),
    };
  const { result, phases, checks } = statement.predicate;
  return {
    ciphertextSha256,
    predicateType: statement.predicateType,
    predicate: { ...run, result, ...(phases === undefined ? {} : { phases }) },
    compared: comparedDigests(checks),
    tables: comparedContent(checks)?.tables ?? null,
    draw,
  };
}

export function isKeptTest(statement: KeptStatement): statement is KeptTest {
  return "result" in statement.predicate;
}

function isRestoreTest(statement: Statement): statement is RestoreTestStatement {
  return "result" in statement.predicate;
}

/** Null if the statement has no draw. Throws ProofError if it does not hold. */
export async function keptDraw({ predicate }: Statement, logKey: NoteVerifier): Promise<KeptDraw | null> {
  if (!("draw" in predicate) || predicate.draw === undefined) return null;
  const { eventId, logIndex, origin, bodySha256, rootHash } = await openDraw(predicate.draw, logKey);
  return { eventId, logIndex, origin, bodySha256, rootHash: toHex(rootHash) };
}
