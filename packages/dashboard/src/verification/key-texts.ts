import { isSha256 } from "@attestore/proof";
import { verify } from "../text/verify.ts";
import { EvidenceError, readKey } from "../verifier/evidence-file.ts";
import { type Keys, NO_KEYS } from "../verifier/verify-in-browser.ts";

/** What the reader pasted, as it stands in the fields. */
export interface KeyTexts {
  agent: string;
  log: string;
  /** One a line. */
  witnesses: string;
  ciphertext: string;
}

export const NO_TEXTS: KeyTexts = { agent: "", log: "", witnesses: "", ciphertext: "" };

export interface ReadTexts {
  keys: Keys;
  ciphertextSha256: string | undefined;
  /** Why a field is no key, by its name. Nothing is to be verified as long as there is one. */
  errors: Partial<Record<keyof KeyTexts, string>>;
}

type KeyEvidence = ReturnType<typeof readKey>;

/** The keys in the fields; an empty one gives none. */
export function readTexts(texts: KeyTexts): ReadTexts {
  const errors: ReadTexts["errors"] = {};
  const read = (
    field: keyof KeyTexts,
    kind: KeyEvidence["kind"],
    source: string,
  ): KeyEvidence | undefined => {
    if (source.trim() === "") return undefined;
    try {
      const found = readKey(source);
      if (found.kind === kind) return found;
      errors[field] = verify.keys.wrongKind[found.kind];
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      errors[field] = `${verify.error[error.code]}: ${error.message}`;
    }
    return undefined;
  };
  const agent = read("agent", "agent_key", texts.agent);
  const log = read("log", "log_key", texts.log);
  const witnesses = texts.witnesses
    .split("\n")
    .flatMap((line) => read("witnesses", "witness_key", line) ?? []);
  // As sha256sum prints it, the name of the file after it.
  const digest = texts.ciphertext.trim().split(/\s/)[0]?.toLowerCase() ?? "";
  if (digest !== "" && !isSha256(digest)) errors.ciphertext = verify.keys.notDigest;
  return {
    keys: {
      ...NO_KEYS,
      agent: agent?.kind === "agent_key" ? { key: agent.key, origin: "given" } : null,
      log: log?.kind === "log_key" ? { key: log.key, origin: "given" } : null,
      witnesses: witnesses.flatMap((witness) =>
        witness.kind === "witness_key" ? [{ key: witness.key, origin: "given" as const }] : [],
      ),
    },
    ciphertextSha256: digest === "" || errors.ciphertext !== undefined ? undefined : digest,
    errors,
  };
}
