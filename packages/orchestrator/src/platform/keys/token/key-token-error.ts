import { UserError } from "../../errors/user-error.ts";
import { type ApiError, unavailable } from "../../errors/api-error.ts";
import type { TokenFailure, TokenFailureReason } from "./token-calls.ts";

const WHAT_NEXT: Readonly<Record<Exclude<TokenFailureReason, "data">, string>> = {
  module: "Check ATTESTORE_PKCS11_MODULE, and the file's permissions.",
  token:
    "Check that the token is connected, and the names in the pkcs11: URIs; `pkcs11-tool --module … --list-token-slots` shows what there is.",
  pin: "The service does not retry, since a token locks itself after a few attempts. Correct ATTESTORE_PKCS11_PIN.",
  key: "`attestore-server keys list` shows which keys the token has; `attestore-server keys move` creates or moves the missing ones.",
  lost: "Check that the token is connected and answers.",
  refused: "Check that the token has the mechanisms that docs/operate.md names.",
  silent: "Check that the token is connected and answers.",
};

/**
 * A key in a PKCS#11 token can't be used. During a start this ends the start; a request that needs
 * the key gets 503.
 */
export class KeyTokenError extends UserError {
  readonly reason: TokenFailureReason;
  readonly answer: ApiError = unavailable("The service cannot use its keys right now.");

  constructor({ reason, message }: TokenFailure) {
    const next = reason === "data" ? "" : ` ${WHAT_NEXT[reason]}`;
    super(reason === "pin" ? "key_token_pin" : "key_token", `The key token: ${message}.${next}`);
    this.name = "KeyTokenError";
    this.reason = reason;
  }
}
