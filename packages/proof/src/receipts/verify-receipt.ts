import { envelopeFromJson, type Envelope } from "../dsse/envelope.ts";
import { formatPublicKeyWire, parsePublicKeyWire, type PublicKey } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import type { Rollback } from "../log/rolled-back.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import type { ReceiptBundle } from "./bundle.ts";
import { type CheckId, failed, held, notChecked, type ReceiptCheck } from "./check.ts";
import { checkCosignatures } from "./check-cosignatures.ts";
import { checkDraw } from "./check-draw.ts";
import { checkEnvelope } from "./check-envelope.ts";
import { checkGeneration } from "./check-generation.ts";
import { checkInclusion, checkLeaf, checkLogKey, type KnownCheckpoint } from "./check-log.ts";
import type { Statement } from "./statement.ts";

export type VerifyReceiptInput = ({ envelope: Envelope } | { bundle: ReceiptBundle }) & {
  /**
   * The agent's key from a trusted place, never from the bundle. Without it the verdict cannot be
   * `true`.
   */
  publicKey?: PublicKey | undefined;
  /**
   * The log's key, also from a trusted place. Whichever generation's name it has, it counts for all
   * generations of the log.
   */
  logKey?: NoteVerifier | undefined;
  /**
   * The generations of the log, if something else than the bundle has shown them: each with the
   * event that began it.
   */
  rollbacks?: readonly Rollback[] | undefined;
  /**
   * Witnesses' keys (`cosignature/v1`), also from a trusted place. If there are any, their
   * cosignatures are checked too.
   */
  witnessKeys?: readonly NoteVerifier[] | undefined;
  /**
   * How many witnesses `true` needs; by default all. With 0, cosignatures are shown, and only an
   * invalid one changes the verdict.
   */
  requireWitnesses?: number | undefined;
  /**
   * A checkpoint of which `openCheckpoint` has shown that `log` signed it. For a bundle with
   * exactly this one, and if `log` is the same object as `logKey`, its signature is not verified
   * again.
   */
  openedCheckpoint?: KnownCheckpoint | undefined;
  /** Hex SHA-256 of the ciphertext at hand, to compare with the subject's digest. */
  ciphertextSha256?: string | undefined;
  /**
   * Whether `true` also needs the log's part. By default yes for a bundle and no for an envelope,
   * which has no such part.
   */
  requireLog?: boolean | undefined;
};

export interface ReceiptVerdict {
  /**
   * `false`: a check failed. `true`: every requested check passed. `cannot_tell`: nothing failed,
   * but something required was missing. The verdict is about the receipt: a true receipt may say
   * that a restore test failed.
   */
  verdict: "true" | "false" | "cannot_tell";
  /** Set only if the signature over it is valid. */
  statement?: Statement;
  checks: ReceiptCheck[];
}

/**
 * Verifies a receipt with keys from outside it. Never throws over the receipt's contents. Throws
 * `malformed_key` for a key that is not a witness's.
 */
export async function verifyReceipt(input: VerifyReceiptInput): Promise<ReceiptVerdict> {
  const bundle = "bundle" in input ? input.bundle : undefined;
  const envelope = "bundle" in input ? envelopeFromJson(input.bundle.envelope) : input.envelope;
  const { checks: signed, statement } = await checkEnvelope(envelope, input.publicKey);
  const generation = bundle === undefined ? null : await checkGeneration(bundle, input);
  const logged = bundle
    ? [
        checkPublicKey(bundle, input.publicKey),
        checkLeaf(bundle, envelope, statement),
        checkLogKey(bundle, input.logKey),
        ...(generation?.checks ?? []),
        ...(await checkInclusion(bundle, input.logKey, input.openedCheckpoint)),
      ]
    : [notChecked("inclusion", "an envelope alone does not carry its proof: the receipt's bundle is needed")];
  const { witnessKeys = [], requireWitnesses = witnessKeys.length } = input;
  const witnessed =
    witnessKeys.length === 0 && requireWitnesses === 0
      ? []
      : [
          bundle
            ? await checkCosignatures(bundle, witnessKeys, requireWitnesses)
            : notChecked(
                "cosignatures",
                "an envelope alone has no checkpoint: the receipt's bundle is needed",
              ),
        ];
  const place = bundle && {
    logIndex: bundle.inclusion_proof.log_index,
    origin: bundle.log.origin,
    rollbacks: generation?.rollbacks ?? null,
  };
  const drawn = await checkDraw(statement, input.logKey, place);
  const checks = [
    ...signed,
    checkCiphertext(statement, input.ciphertextSha256),
    ...logged,
    ...witnessed,
    ...drawn,
  ];
  const verdict = decide(checks, {
    requireLog: input.requireLog ?? bundle !== undefined,
    requireCiphertext: input.ciphertextSha256 !== undefined,
    requireWitnesses: requireWitnesses > 0,
  });
  return statement === undefined ? { verdict, checks } : { verdict, statement, checks };
}

const LOG_CHECKS: readonly CheckId[] = ["log_key", "checkpoint", "generation", "inclusion", "draw"];

/**
 * A failed check decides the verdict. Without one, a required check that was not done decides it.
 */
function decide(
  checks: readonly ReceiptCheck[],
  needed: { requireLog: boolean; requireCiphertext: boolean; requireWitnesses: boolean },
): ReceiptVerdict["verdict"] {
  if (checks.some(({ result }) => result === "failed")) return "false";
  const isNeeded = (id: CheckId): boolean => {
    if (id === "ciphertext") return needed.requireCiphertext;
    if (id === "cosignatures") return needed.requireWitnesses;
    return needed.requireLog || !LOG_CHECKS.includes(id);
  };
  return checks.every(({ id, result }) => result === "held" || !isNeeded(id)) ? "true" : "cannot_tell";
}

function checkPublicKey({ public_key }: ReceiptBundle, key: PublicKey | undefined): ReceiptCheck {
  const claimed = sshFingerprint(parsePublicKeyWire(public_key));
  if (key === undefined)
    return notChecked(
      "public_key",
      `the bundle claims ${claimed}; that is not evidence: give the agent's key`,
    );
  return public_key === formatPublicKeyWire(key)
    ? held("public_key", claimed)
    : failed("public_key", `the bundle says ${claimed}, you said ${sshFingerprint(key)}`);
}

function checkCiphertext(statement: Statement | undefined, sha256: string | undefined): ReceiptCheck {
  if (sha256 === undefined) return notChecked("ciphertext", "the ciphertext's file is needed");
  if (statement === undefined)
    return notChecked("ciphertext", "there is no valid statement to compare it with");
  const expected = statement.subject[0].digest.sha256;
  return sha256 === expected
    ? held("ciphertext", `SHA-256 ${sha256}`)
    : failed("ciphertext", `its SHA-256 is ${sha256}, the receipt is about ${expected}`);
}
