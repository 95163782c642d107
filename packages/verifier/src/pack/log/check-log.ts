import {
  checkCosignatures,
  firstGenerationKey,
  formatVerifierKey,
  fromUtf8,
  isLogOf,
  keyOfGeneration,
  manifestNoteText,
  noteVerifier,
  type NoteVerifier,
  openCheckpoint,
  openNote,
  PACK_FILES,
  type PackHeader,
  parseVerifierKey,
  ProofError,
  readCosignatures,
  toHex,
  MAX_NOTE_SIZE,
  plural,
} from "@attestore/proof";
import { checkGenerations } from "./check-generations.ts";
import type { KnownAgent } from "../agents/read-agents.ts";
import type { Findings } from "../findings.ts";
import type { GivenKeys } from "../agents/given-keys.ts";
import type { PackFiles } from "../files/pack-files.ts";
import type { PackLog } from "./pack-log.ts";

const MAX_SMALL = MAX_NOTE_SIZE;

/** The caller's witnesses, and how many of them must have cosigned the checkpoint. */
export interface AskedWitnesses {
  keys: readonly NoteVerifier[];
  required: number;
}

/**
 * Checks the log's name, the log's signed note about the pack, and the checkpoint. Returns null
 * without a checkpoint for proofs to lead to.
 */
export async function checkLog(
  files: PackFiles,
  findings: Findings,
  given: NoteVerifier | undefined,
  {
    agents,
    givenKeys,
    asked,
  }: {
    agents: ReadonlyMap<string, KnownAgent>;
    givenKeys: GivenKeys;
    asked: AskedWitnesses;
  },
): Promise<PackLog | null> {
  const claimed = await files.parsed("log_key", PACK_FILES.logKey, MAX_SMALL, (bytes) =>
    parseKey(bytes, "ed25519"),
  );
  const timeKey = await files.parsed("period", PACK_FILES.timeKey, MAX_SMALL, (bytes) =>
    parseKey(bytes, "cosignature/v1"),
  );
  checkKey(findings, claimed, given);
  const logKey = given ?? claimed;
  if (logKey === null) return null;
  const key = keyOfPack(files.manifest, logKey);
  await checkManifestNote(files, findings, key);
  const log = await files.parsed("checkpoint", PACK_FILES.checkpoint, MAX_SMALL, async (bytes) => {
    const ofAgents = witnesses(agents);
    const opened = await openCheckpoint(bytes, key, ofAgents);
    requireOfManifest(files.manifest, opened.origin, Number(opened.size), opened.rootHash);
    // A witness counts once, however often its line is there.
    const seen = new Set(opened.cosignatures.map(({ verifier }) => verifier.name)).size;
    const known = ofAgents.filter(({ name }) => {
      const agent = agents.get(name);
      return agent !== undefined && givenKeys.has(name, agent.inUse.fingerprint);
    });
    const byAgents = (await readCosignatures(fromUtf8(bytes), known)).seen;
    findings.hold(
      "checkpoint",
      `signed by ${key.name} at ${plural(opened.size, "leaf", "leaves")}${seen > 0 ? `; ${plural(seen, "agent")} cosigned it, ${byAgents.length} of them with keys that you gave` : ""}`,
    );
    const asWitnesses = await checkWitnesses(findings, fromUtf8(bytes), asked);
    const names = new Set(asWitnesses.map(({ name }) => name));
    return {
      witnesses: [...asWitnesses, ...byAgents.filter(({ name }) => !names.has(name))],
      key,
      timeKey,
      checkpoint: fromUtf8(bytes),
      size: Number(opened.size),
      rootHash: opened.rootHash,
    };
  });
  const generations = log === null ? null : await checkGenerations(files, findings, log);
  return log === null || generations === null ? null : { ...log, generations };
}

/**
 * The key under the name of the pack's generation. For a pack of another log it is left as it is:
 * then nothing in the pack is signed by it.
 */
function keyOfPack({ log }: PackHeader, key: NoteVerifier): NoteVerifier {
  try {
    return keyOfGeneration(key, log.origin);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    return key;
  }
}

async function checkWitnesses(
  findings: Findings,
  checkpoint: string,
  { keys, required }: AskedWitnesses,
): Promise<{ name: string; at: string }[]> {
  if (keys.length === 0) return [];
  const check = await checkCosignatures({ checkpoint }, keys, required);
  if (check.result === "failed") findings.fail("witnesses", check.detail);
  else if (check.result === "not_checked" && required > 0) findings.leaveOpen("witnesses", check.detail);
  else findings.hold("witnesses", check.detail);
  return (await readCosignatures(checkpoint, keys)).seen;
}

/** Agents cosign the checkpoints that they were shown, under their ids. */
function witnesses(agents: ReadonlyMap<string, KnownAgent>): NoteVerifier[] {
  return [...agents.values()].flatMap(
    ({
      id,
      inUse: {
        publicKey: { algorithm, bytes },
      },
    }) => (algorithm === "ed25519" ? noteVerifier(id, "cosignature/v1", bytes) : []),
  );
}

function parseKey(bytes: Uint8Array, algorithm: NoteVerifier["algorithm"]): NoteVerifier {
  const key = parseVerifierKey(fromUtf8(bytes).replace(/\n$/, ""));
  if (key.algorithm !== algorithm) throw new ProofError("malformed_key", `it is not a key for ${algorithm}`);
  return key;
}

function checkKey(findings: Findings, claimed: NoteVerifier | null, given: NoteVerifier | undefined): void {
  if (claimed === null) return;
  const text = formatVerifierKey(firstGenerationKey(claimed));
  if (given === undefined)
    findings.leaveOpen(
      "log_key",
      `the pack contains ${text}, which is only a claim; everything else was checked with it`,
      "--log-key VKEY, from a host that has an agent",
    );
  else if (text === formatVerifierKey(firstGenerationKey(given))) findings.hold("log_key", text);
  else findings.fail("log_key", `the pack contains ${text}, but you gave ${formatVerifierKey(given)}`);
}

async function checkManifestNote(files: PackFiles, findings: Findings, key: NoteVerifier): Promise<void> {
  await files.parsed("manifest_signature", PACK_FILES.manifestNote, MAX_SMALL, async (bytes) => {
    const { text } = await openNote(bytes, [key]);
    if (text !== manifestNoteText(files.manifest.log.origin, files.manifestSha256))
      throw new ProofError(
        "malformed_evidence",
        "the log signed a different manifest than the one in the pack",
      );
    findings.hold("manifest_signature", `by ${key.name}, over SHA-256 ${files.manifestSha256}`);
  });
}

function requireOfManifest(
  { org_id, log }: PackHeader,
  origin: string,
  size: number,
  rootHash: Uint8Array,
): void {
  if (origin !== log.origin || size !== log.tree_size || toHex(rootHash) !== log.root_hash)
    throw new ProofError("malformed_checkpoint", "it differs from the checkpoint in the manifest");
  if (!isLogOf(origin, org_id))
    throw new ProofError("malformed_checkpoint", `${origin} is not the log of ${org_id}`);
}
