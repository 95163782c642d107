export type CannotTellCode =
  | "usage"
  | "file_unreadable"
  | "not_a_receipt"
  | "key_unreadable"
  | "rotation_unreadable"
  | "network"
  | "service_refused";

/**
 * Why the question cannot be answered: something is missing on the caller's side. It never accuses
 * a receipt.
 */
export class CannotTell extends Error {
  readonly code: CannotTellCode;

  constructor(code: CannotTellCode, message: string) {
    super(message);
    this.name = "CannotTell";
    this.code = code;
  }
}
