import type { Envelope } from "../dsse/envelope.ts";
import { verifyEnvelope } from "../dsse/verify.ts";
import type { Issue } from "../json/shape.ts";
import type { PublicKey } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import { failed, held, notChecked, type ReceiptCheck, refusal } from "./check.ts";
import { readStatement } from "./parse-statement.ts";
import { PAYLOAD_TYPE, type Statement } from "./statement.ts";

/** What the envelope alone shows. `statement` is set only if its signature is valid. */
export async function checkEnvelope(
  envelope: Envelope,
  key: PublicKey | undefined,
): Promise<{ checks: ReceiptCheck[]; statement?: Statement }> {
  if (key === undefined) {
    const claim = `the agent's public key is needed; the envelope claims ${envelope.keyid || "no key"}`;
    return {
      checks: [
        notChecked("signature", claim),
        notChecked("keyid", "the agent's public key is needed"),
        notChecked("statement", "not read, because nobody is known to have signed it"),
      ],
    };
  }
  const fingerprint = sshFingerprint(key);
  const refused = await refusal(() => verifyEnvelope(envelope, key));
  if (refused?.code === "envelope_signature_invalid") {
    return {
      checks: [
        failed("signature", `${signatureFault(envelope, fingerprint)} (key ${fingerprint})`),
        keyidCheck(envelope, fingerprint),
        notChecked("statement", "not read, because the agent did not sign it"),
      ],
    };
  }
  const { check, statement } = statementCheck(envelope);
  const signed = held(
    "signature",
    `of ${fingerprint}, over ${envelope.payload.length} bytes of payload and their type`,
  );
  const checks = [signed, keyidCheck(envelope, fingerprint), check];
  return statement === undefined ? { checks } : { checks, statement };
}

function signatureFault(envelope: Envelope, fingerprint: string): string {
  return envelope.keyid === fingerprint
    ? "the payload, its type or the signature is not what the agent signed"
    : `signed by another key (it claims ${envelope.keyid || "none"}), or changed since`;
}

function keyidCheck({ keyid }: Envelope, fingerprint: string): ReceiptCheck {
  return keyid === fingerprint
    ? held("keyid", fingerprint)
    : failed("keyid", `it names ${keyid || "none"}, and the key given is ${fingerprint}`);
}

function statementCheck(envelope: Envelope): { check: ReceiptCheck; statement?: Statement } {
  if (envelope.payloadType !== PAYLOAD_TYPE)
    return {
      check: notChecked(
        "statement",
        `the payload's type is not ${PAYLOAD_TYPE}: a later version may know it`,
      ),
    };
  const { statement, issues, later, added } = readStatement(envelope.payload);
  if (statement === undefined) {
    const check =
      issues.length > 0
        ? failed("statement", textOf(issues))
        : notChecked("statement", `${textOf(later)}: a later version may know it`);
    return { check };
  }
  const passedOver = added.length === 0 ? "" : `; not read: ${added.map(({ path }) => path).join(", ")}`;
  return { check: held("statement", statement.predicateType + passedOver), statement };
}

function textOf(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => `${path || "the payload"} ${message}`).join("; ");
}
