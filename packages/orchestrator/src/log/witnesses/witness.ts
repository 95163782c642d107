import {
  equalBytes,
  noteVerifier,
  openLogCheckpoint,
  openNote,
  parseNote,
  ProofError,
  toHex,
  type OpenedCheckpoint,
} from "@attestore/proof";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { scopeToOrg } from "../../platform/database/org-scope.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import { RepeatedLines } from "../../platform/logging/repeated-lines.ts";
import type { CheckpointSigner, Head } from "../checkpoints/checkpoint-signer.ts";
import { ClockOff } from "../clock-off.ts";
import { readHeadOfSize } from "../heads/heads.ts";
import { LogCorruption } from "../log-corruption.ts";
import { logOrigin, logVerifier } from "../checkpoints/log-keys.ts";
import { stopLog } from "../heads/stop-set-back-logs.ts";
import { nameLostHead } from "../recovery/name-lost-heads.ts";
import { transactionSession, type PreparedQuery } from "../../platform/database/sql-session.ts";

/** An agent as a witness of its organisation's log. */
export interface WitnessingAgent {
  id: string;
  orgId: string;
  /** An Ed25519 key, or one of another algorithm, whose holder does not cosign. */
  publicKey: Uint8Array;
  keyFingerprint: string;
}

/** A heartbeat's head or cosignature is malformed. */
export class MalformedWitness extends Error {
  readonly field: "log_head" | "cosignature";
  readonly issue: string;

  constructor(field: "log_head" | "cosignature", what: string, issue: string) {
    super(`${field} is not ${what}.`);
    this.name = "MalformedWitness";
    this.field = field;
    this.issue = issue;
  }
}

/** The head of its organisation's log that an agent reports. */
export interface HeldHead {
  /** A signed note. */
  checkpoint: string;
  /** The agent's `cosignature/v1` line over it, under its id as the key's name. */
  cosignature: string | null;
}

const STORE: PreparedQuery = {
  name: "witness_store",
  text: `insert into agent_witnesses (agent_id, tree_size, checkpoint, cosignature, received_at)
    values ($1, $2, $3, $4, $5)
    on conflict (agent_id) do update set tree_size = excluded.tree_size, checkpoint = excluded.checkpoint,
      cosignature = excluded.cosignature, received_at = excluded.received_at
    where excluded.tree_size >= agent_witnesses.tree_size`,
};

/** An agent's head and cosignature that were stored. */
interface Cosigned {
  checkpoint: string;
  /** Fingerprint of the key it cosigned with. */
  key: string;
  at: number;
}

/**
 * A log that does not grow is cosigned again with every heartbeat, which shows only that the agent
 * is alive.
 */
const AGAIN_AFTER_MS = 10 * 60_000;
const MAX_KEPT = 50_000;

function isKnown(known: Cosigned | undefined, agent: WitnessingAgent, held: HeldHead): boolean {
  return (
    known !== undefined &&
    held.cosignature !== null &&
    known.checkpoint === held.checkpoint &&
    known.key === agent.keyFingerprint &&
    performance.now() - known.at < AGAIN_AFTER_MS
  );
}

/**
 * Handles the head and cosignature in a heartbeat. Throws MalformedWitness if one is not a note or
 * a cosignature at all. An invalid signature is logged and ignored, because the heartbeat, and with
 * it the backups, must continue. A head with the log's own signature that the log never had means
 * that somebody else signs with its key, or that the database lost a signed head. That is logged as
 * an error, for people to look at; the agent keeps the head. One of an ended generation of the log
 * is named as lost.
 */
export function createWitness({
  logger,
  ...parts
}: {
  db: Database;
  signer: CheckpointSigner;
  logger: Logger;
}) {
  const deps = { ...parts, report: reportOnce(logger) };
  const lately = new Map<string, Cosigned>();
  return async function acceptWitness(agent: WitnessingAgent, held: HeldHead): Promise<void> {
    if (isKnown(lately.get(agent.id), agent, held)) return;
    const checkpoint = await openHeldCheckpoint(deps, agent, held.checkpoint);
    if (checkpoint === null) return;
    const cosignature = await checkCosignature(deps.report, agent, checkpoint.text, held.cosignature);
    const stored = await deps.db.transaction().execute(async (tx) => {
      await scopeToOrg(tx, agent.orgId);
      const session = transactionSession(tx);
      const size = Number(checkpoint.size);
      const recorded = Number.isSafeInteger(size) ? await readHeadOfSize(session, agent.orgId, size) : null;
      const { origin, rootHash } = checkpoint;
      if (recorded?.origin !== origin || !equalBytes(recorded.rootHash, rootHash)) {
        if (Number.isSafeInteger(size)) await handleUnknownHead(tx, deps, agent, { origin, size, rootHash });
        return false;
      }
      await session.run(STORE, [agent.id, size, held.checkpoint, cosignature, new Date()]);
      return true;
    });
    if (!stored || cosignature === null) return;
    // Cleared as a whole, because it refills within minutes.
    if (lately.size >= MAX_KEPT) lately.clear();
    const key = agent.keyFingerprint;
    lately.set(agent.id, { checkpoint: held.checkpoint, key, at: performance.now() });
  };
}

/** Logs what a heartbeat has, if it is new. @param about what of the agent's it is about */
type Report = (level: "warn" | "error", about: string, fields: { agent_id: string }, message: string) => void;

/** An agent reports the same head with every heartbeat until somebody has put it right. */
function reportOnce(logger: Logger): Report {
  const lines = new RepeatedLines();
  return (level, about, fields, message) => {
    const due = lines.due(`${fields.agent_id} ${about} ${message}`);
    if (due !== null) logger[level]({ ...fields, ...due }, message);
  };
}

/**
 * A head with the log's own signature that the log does not have. One of a generation that has
 * ended is named in the present one; any other makes the log read-only.
 */
async function handleUnknownHead(
  tx: DatabaseTransaction,
  { report }: { report: Report },
  agent: WitnessingAgent,
  head: Head,
): Promise<void> {
  const about = {
    agent_id: agent.id,
    org_id: agent.orgId,
    log: head.origin,
    tree_size: head.size,
    root_hash: toHex(head.rootHash),
  };
  const which = `${head.origin} ${head.size} ${about.root_hash}`;
  const named = await nameLostHead(tx, agent.orgId, head).catch((error: unknown) => {
    if (!(error instanceof LogCorruption || error instanceof ClockOff)) throw error;
    const fields = { ...about, reason: error.message };
    report("warn", which, fields, "a lost head that an agent has is not named yet");
    return null;
  });
  if (named === "named" || named === null) return;
  const what =
    named === "not_ended"
      ? "an agent has a signed head that this log never had: the log is now read-only"
      : "an agent has a signed head that contradicts the remaining entries of an ended generation of the log: it was forked";
  report("error", which, about, what);
  if (named === "not_ended") await stopLog(transactionSession(tx), head);
}

/** Null if the log did not sign it. */
async function openHeldCheckpoint(
  { signer, report }: { signer: CheckpointSigner; report: Report },
  agent: WitnessingAgent,
  checkpoint: string,
): Promise<OpenedCheckpoint | null> {
  const verifier = logVerifier(signer.identity, logOrigin(signer.identity.host, agent.orgId));
  try {
    return await openLogCheckpoint(checkpoint, verifier);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    if (error.code.startsWith("malformed_"))
      throw new MalformedWitness("log_head", "a checkpoint", error.message);
    const fields = { agent_id: agent.id, reason: error.message };
    report("warn", error.code, fields, "an agent has a head that this log did not sign");
    return null;
  }
}

async function checkCosignature(
  report: Report,
  agent: WitnessingAgent,
  text: string,
  line: string | null,
): Promise<string | null> {
  // cosignature/v1 needs Ed25519; an agent with another key is not a witness.
  if (line === null || agent.publicKey.length !== 32) return null;
  const note = `${text}\n${line.endsWith("\n") ? line : `${line}\n`}`;
  try {
    // An empty line would end the text early, so something else would be signed.
    const parsed = parseNote(note);
    if (parsed.text !== text || parsed.signatures.length !== 1)
      throw new ProofError("malformed_note", "not one signature line");
    const verifier = noteVerifier(agent.id, "cosignature/v1", new Uint8Array(agent.publicKey));
    await openNote(note, [verifier]);
    return line;
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    if (error.code.startsWith("malformed_"))
      throw new MalformedWitness("cosignature", "a signature line", error.message);
    const fields = { agent_id: agent.id, reason: error.message };
    report("warn", error.code, fields, "an agent's cosignature is not valid");
    return null;
  }
}
