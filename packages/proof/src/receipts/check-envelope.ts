import type { Envelope } from "../dsse/envelope.ts";
import { verifyEnvelope } from "../dsse/verify.ts";
import type { PublicKey } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import { failed, held, notChecked, type ReceiptCheck, refusal } from "./check.ts";
import { parseStatement } from "./parse-statement.ts";
import { PAYLOAD_TYPE, type Statement } from "./statement.ts";

/** What the envelope alone shows. `statement` is there only if the signature over it holds. */
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
        notChecked("statement", "what nobody is known to have signed is not read"),
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
        notChecked("statement", "what the agent did not sign is not read"),
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
    return { check: failed("statement", `the payload's type is not ${PAYLOAD_TYPE}`) };
  const parsed = parseStatement(envelope.payload);
  if (!parsed.ok) {
    const issues = parsed.issues.map(({ path, message }) => `${path || "the payload"} ${message}`);
    return { check: failed("statement", issues.join("; ")) };
  }
  return { check: held("statement", parsed.statement.predicateType), statement: parsed.statement };
}
