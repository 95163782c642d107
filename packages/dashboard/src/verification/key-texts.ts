import { isSha256 } from "@attestore/proof";
import { verify } from "../text/verify.ts";
import { EvidenceError, readKey } from "../verifier/evidence-file.ts";
import { type Keys, NO_KEYS } from "../verifier/verify-in-browser.ts";

/** The fields' contents, as the reader pasted them. */
export interface KeyTexts {
  agent: string;
  log: string;
  /** One per line. */
  witnesses: string;
  ciphertext: string;
}

export const NO_TEXTS: KeyTexts = { agent: "", log: "", witnesses: "", ciphertext: "" };

export interface ReadTexts {
  keys: Keys;
  ciphertextSha256: string | undefined;
  /** Why a field is invalid, by its name. Nothing may be verified while there is an error. */
  errors: Partial<Record<keyof KeyTexts, string>>;
}

type KeyEvidence = ReturnType<typeof readKey>;

/** Reads the keys from the fields; an empty field gives none. */
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
  // sha256sum prints the file's name after the digest.
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
