import { UserError } from "../../errors/user-error.ts";
import { type ApiError, unavailable } from "../../errors/api-error.ts";
import type { TokenFailure, TokenFailureReason } from "./token-calls.ts";

const WHAT_NEXT: Readonly<Record<Exclude<TokenFailureReason, "data">, string>> = {
  module: "Check ATTESTORE_PKCS11_MODULE, and who may read the file.",
  token:
    "Check that the token is connected, and the names in the pkcs11: URIs; `pkcs11-tool --module … --list-token-slots` shows what there is.",
  pin: "It is not tried again, since a token locks itself after a few. Put ATTESTORE_PKCS11_PIN right.",
  key: "`attestore-server keys list` shows what the token has; `attestore-server keys move` makes or moves what is missing.",
  lost: "Check that the token is connected and answers.",
  refused: "Check that the token has the mechanisms that docs/operate.md names.",
  silent: "Check that the token is connected and answers.",
};

/** A key in a PKCS#11 token that cannot be used. At a start it ends the start; a request that needs the key is answered 503. */
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
