/**
 * Something that the person who runs a program can fix: only its message is shown, with exit code
 * 2. Any other error is a defect of ours, and keeps its stack.
 */
export class UserError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UserError";
    this.code = code;
  }
}
