export type CannotTellCode =
  | "usage"
  | "file_unreadable"
  | "not_a_receipt"
  | "key_unreadable"
  | "rotation_unreadable"
  | "network"
  | "service_refused";

/** What keeps the question from being answered: something missing on the asker's side, never a claim about a receipt. */
export class CannotTell extends Error {
  readonly code: CannotTellCode;

  constructor(code: CannotTellCode, message: string) {
    super(message);
    this.name = "CannotTell";
    this.code = code;
  }
}
