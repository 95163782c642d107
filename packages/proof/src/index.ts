export { sha256, Sha256 } from "#sha256";
export { ProofError, type ProofErrorCode } from "./proof-error.ts";
export { concatBytes, equalBytes, fromUtf8, HASH_SIZE, utf8, type Hash } from "./bytes.ts";
export { fromHex, hashFromHex, toHex } from "./hex.ts";
export { fromBase64, fromEitherBase64, toBase64 } from "./base64.ts";

export { canonicalJson } from "./json/canonical-json.ts";
export { hasRepeatedMember, parseJson, type Json, type JsonObject } from "./json/strict-json.ts";

export { EMPTY_ROOT, leafHash, nodeHash } from "./merkle/hashing.ts";
export { CompactRange, type NodeVisitor } from "./merkle/compact-range.ts";
export {
  compactRangeCoordinates,
  consistencyCoordinates,
  inclusionCoordinates,
  type NodeCoordinate,
} from "./merkle/coordinates.ts";
export { proveConsistency, proveInclusion, type NodeReader } from "./merkle/prove.ts";
export { verifyInclusion, type InclusionProof } from "./merkle/verify-inclusion.ts";
export { verifyConsistency, type ConsistencyProof } from "./merkle/verify-consistency.ts";

export {
  formatPublicKeyWire,
  parsePublicKeyWire,
  publicKeyFromBytes,
  publicKeyFromSpki,
  publicKeyToSpki,
  type PublicKey,
} from "./keys/public-key.ts";
export { keyKind, type KeyKind } from "./key-kind.ts";
export { formatPublicKeyPem, parsePublicKeyFile } from "./keys/key-file.ts";
export { formatSshLine, sshFingerprint } from "./keys/ssh.ts";
export { verifySignature } from "./keys/verify-signature.ts";

export { pae } from "./dsse/pae.ts";
export {
  envelopeFromJson,
  envelopeToJson,
  formatEnvelope,
  MAX_ENVELOPE_SIZE,
  parseEnvelope,
  type Envelope,
  type EnvelopeJson,
} from "./dsse/envelope.ts";
export { signEnvelope, type Signer } from "./dsse/sign.ts";
export { verifyEnvelope } from "./dsse/verify.ts";

export { formatLeaf, isServiceLeaf, leafFromJson, MAX_LEAF_SIZE, parseLeaf, type Leaf } from "./log/leaf.ts";
export {
  firstGenerationKey,
  formatLogName,
  isLogOf,
  keyOfGeneration,
  MAX_GENERATION,
  openLogCheckpoint,
  parseLogName,
  type LogName,
  type OpenedLogCheckpoint,
} from "./log/generation-name.ts";
export {
  LOG_HEAD_LOST,
  LOG_ROLLED_BACK,
  type LostLogHead,
  MAX_LOST_IN_EVENT,
  readLostHead,
  requireHeadOf,
  requireNoFork,
  type Rollback,
  rollbackText,
  verifyGenerations,
  verifyLostHead,
  verifyRollback,
} from "./log/rolled-back.ts";
export {
  checkSuccession,
  type CheckedSuccession,
  type HeadsToProve,
  type Succession,
} from "./log/succession.ts";
export { parseLogProof, type LogProof } from "./log/log-proof.ts";
export { serviceEventFromJson, type ServiceEventBundle } from "./log/service-event.ts";
export { parseLogGenerations, type LogGenerations } from "./log/log-generations.ts";
export { isSha256, isTimestamp, isTypeId } from "./shapes.ts";

export { type Issue } from "./json/shape.ts";
export { parseTilePath, TILE_WIDTH, tilePath, type Tile } from "./tiles/tile-path.ts";
export { hashesInTile, nodeFromTile, TILE_HEIGHT, tileOfNode, type TileNode } from "./tiles/tile-hashes.ts";
export { decodeEntryBundle, encodeEntryBundle } from "./tiles/entry-bundle.ts";

export {
  formatNote,
  noteSignatureLine,
  parseNote,
  type Note,
  type NoteSignature,
  MAX_NOTE_SIZE,
} from "./notes/note.ts";
export {
  formatVerifierKey,
  noteKeyId,
  noteVerifier,
  parseVerifierKey,
  type NoteAlgorithm,
  type NoteVerifier,
} from "./notes/verifier-key.ts";
export { openNote, type OpenedNote, type VerifiedSignature } from "./notes/open-note.ts";
export { cosignatureLine, cosignatureMessage, parseCosignature } from "./notes/cosignature.ts";
export {
  formatCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  type Checkpoint,
  type OpenedCheckpoint,
} from "./notes/checkpoint.ts";
export { formatTlogProof, parseTlogProof, type TlogProof } from "./notes/tlog-proof.ts";

export {
  PAYLOAD_TYPE,
  PREDICATE_BACKUP,
  PREDICATE_EVENT,
  PREDICATE_RESTORE_TEST,
  receiptKind,
  STATEMENT_TYPE,
  type BackupPredicate,
  type BackupStatement,
  type CheckOutcome,
  type ColumnProfile,
  type Draw,
  type NegativeControl,
  type Profile,
  type ReceiptKind,
  type RestoreTestPredicate,
  type RestoreTestStatement,
  type Statement,
  type FileKindProfile,
  type FilesProfile,
  type Suspicion,
  type TableProfile,
} from "./receipts/statement.ts";
export {
  formatStatement,
  parseRecordedStatement,
  parseStatement,
  readStatement,
  type ParsedStatement,
} from "./receipts/parse-statement.ts";
export {
  bundleFromJson,
  MAX_BUNDLE_SIZE,
  parseBundle,
  parseReceipt,
  type Receipt,
  type ReceiptBundle,
} from "./receipts/bundle.ts";
export {
  declaredDraw,
  DRAW_DECLARED,
  drawCommitment,
  drawnIndex,
  drawSeed,
  MAX_CANDIDATES,
  openDraw,
  type DeclaredDraw,
  type ReplacedDraw,
  type OpenedDraw,
} from "./receipts/draw.ts";
export { CLOCK_WENT_BACK, type DatedTooLate, readDatedTooLate } from "./evidence/clock-went-back.ts";
export { comparedContent, comparedContentText, type ComparedContent } from "./receipts/content.ts";
export {
  emptyTables,
  fewerObjects,
  namedNotCounted,
  type NamedTables,
  constraintsNotChecked,
  constraintsNotMet,
  indexesNotChecked,
  indexesUnfit,
  notLookedAt,
  tablesNotCounted,
} from "./receipts/test-gaps.ts";
export { isMeasure, suspicionText } from "./receipts/suspicions.ts";
export { type CheckId, type ReceiptCheck } from "./receipts/check.ts";
export { checkCosignatures, readCosignatures, type Cosignatures } from "./receipts/check-cosignatures.ts";
export { verifyReceipt, type ReceiptVerdict, type VerifyReceiptInput } from "./receipts/verify-receipt.ts";

export {
  keyRotationFromJson,
  MAX_KEY_ROTATION_SIZE,
  parseKeyRotation,
  PREDICATE_KEY_ROTATION,
  isEncryptionKeyRotation,
  verifyKeyRotation,
  type KeyRotation,
  type KeyRotationJson,
} from "./rotation/key-rotation.ts";
export { countsAt, keysLedTo, type TrustedKey } from "./rotation/trusted-keys.ts";

export {
  agentKeyFile,
  earlierKeyFile,
  entriesFile,
  EVIDENCE_FORMAT,
  eventFile,
  manifestNoteText,
  PACK_FILES,
  predecessorFile,
  receiptFile,
  RUNS_IN_FILE,
  runsFile,
} from "./evidence/pack-files.ts";
export {
  isPackPath,
  MANIFEST_END,
  manifestBegin,
  manifestLine,
  ManifestReader,
  parseManifest,
  UnknownFormat,
  type Manifest,
  type PackFileEntry,
  type PackHeader,
} from "./evidence/manifest.ts";
export {
  GENERATIONS_FILE,
  generationSummaries,
  parsePackGenerations,
  type GenerationSummary,
  type PackGenerations,
} from "./evidence/pack-generations.ts";
export { parseLogRange, type LogRange, type TimedCheckpoint } from "./evidence/log-range.ts";
export { parseEventBundle, type EventBundle } from "./evidence/event-bundle.ts";
export {
  eventOf,
  formatEventStatement,
  parseEventStatement,
  readEventStatement,
  requireEventLeaf,
  type EventPredicate,
  type LoggedEvent,
} from "./evidence/event-statement.ts";
export { parsePredecessor, type Predecessor } from "./evidence/predecessor.ts";
export {
  parseAgents,
  parsePolicy,
  type EarlierKey,
  type PackAgent,
  type PackAgents,
  type PackPolicy,
  type SourcePolicy,
} from "./evidence/policy.ts";
export {
  CLOCK_BEHIND_MS,
  countsForRun,
  formatRuns,
  parseRuns,
  type ScheduledRun,
} from "./evidence/scheduled-run.ts";
export { EvidenceTally, formatSummary, type TalliedEvent, type TalliedReceipt } from "./evidence/tally.ts";
export { type EvidenceSummary, type RunCount, type SourceSummary } from "./evidence/summary.ts";
export { CONTROLS, formatControls, type Control } from "./evidence/controls.ts";
export { indexPage } from "./evidence/index-page.ts";
export {
  DEFAULT_RPO_S,
  NOT_PROVEN,
  notProvenBecause,
  PROOF_AGE_S,
  type NotProvenBecause,
  type ProofFacts,
} from "./proven/not-proven-because.ts";
export { ProofHistory } from "./proven/proof-history.ts";
export { plainExcerpt, plainLine, plainMessage, plainText } from "./text/plain-text.ts";
export { escapeHtml } from "./text/escape-html.ts";
export { shellWord, singleQuoted } from "./text/shell-word.ts";
export { formatBytes } from "./text/bytes.ts";
export { numbered, plural } from "./text/plural.ts";
