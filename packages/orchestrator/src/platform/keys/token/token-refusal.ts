import type { TokenFailureReason } from "./token-calls.ts";

/**
 * Return values that a person may look up, by their names in pkcs11t.h, and what they mean for the
 * caller.
 */
const VALUES: Readonly<Record<number, readonly [string, TokenFailureReason]>> = {
  0x05: ["CKR_GENERAL_ERROR", "lost"],
  0x06: ["CKR_FUNCTION_FAILED", "lost"],
  0x12: ["CKR_ATTRIBUTE_TYPE_INVALID", "refused"],
  0x13: ["CKR_ATTRIBUTE_VALUE_INVALID", "refused"],
  0x30: ["CKR_DEVICE_ERROR", "lost"],
  0x31: ["CKR_DEVICE_MEMORY", "refused"],
  0x32: ["CKR_DEVICE_REMOVED", "lost"],
  0x40: ["CKR_ENCRYPTED_DATA_INVALID", "data"],
  0x41: ["CKR_ENCRYPTED_DATA_LEN_RANGE", "data"],
  0x54: ["CKR_FUNCTION_NOT_SUPPORTED", "refused"],
  0x60: ["CKR_KEY_HANDLE_INVALID", "lost"],
  0x70: ["CKR_MECHANISM_INVALID", "refused"],
  0x82: ["CKR_OBJECT_HANDLE_INVALID", "lost"],
  0xa0: ["CKR_PIN_INCORRECT", "pin"],
  0xa1: ["CKR_PIN_INVALID", "pin"],
  0xa2: ["CKR_PIN_LEN_RANGE", "pin"],
  0xa3: ["CKR_PIN_EXPIRED", "pin"],
  0xa4: ["CKR_PIN_LOCKED", "pin"],
  0xb0: ["CKR_SESSION_CLOSED", "lost"],
  0xb3: ["CKR_SESSION_HANDLE_INVALID", "lost"],
  0xd0: ["CKR_TEMPLATE_INCOMPLETE", "refused"],
  0xd1: ["CKR_TEMPLATE_INCONSISTENT", "refused"],
  0xe0: ["CKR_TOKEN_NOT_PRESENT", "lost"],
  0xe1: ["CKR_TOKEN_NOT_RECOGNIZED", "lost"],
  0xe2: ["CKR_TOKEN_WRITE_PROTECTED", "refused"],
  0x101: ["CKR_USER_NOT_LOGGED_IN", "lost"],
  0x102: ["CKR_USER_PIN_NOT_INITIALIZED", "pin"],
  0x140: ["CKR_DOMAIN_PARAMS_INVALID", "refused"],
};

/** A refusal of a token or its module. Contains no PIN and no key. */
export class TokenRefusal extends Error {
  readonly reason: TokenFailureReason;

  constructor(reason: TokenFailureReason, message: string) {
    super(message);
    this.name = "TokenRefusal";
    this.reason = reason;
  }

  /** From the return value of one of the module's functions. */
  static of(name: string, value: number): TokenRefusal {
    const [text, reason] = VALUES[value] ?? [`0x${value.toString(16)}`, "refused" as const];
    // If the tag of a ciphertext is wrong, some tokens say no more than this.
    const isData = name === "C_Decrypt" && (value === 0x05 || value === 0x06);
    return new TokenRefusal(isData ? "data" : reason, `${name}: ${text}`);
  }
}
