export type ExpectationErrorCode =
  | "expectation_too_long"
  | "expectation_too_deep"
  /** Not of the language. */
  | "expectation_malformed"
  /** Of the language, but it would say nothing about the data. */
  | "expectation_constant";

/**
 * The person who wrote the expectation can repair it: the only thing that `parseExpectation`
 * throws.
 */
export class ExpectationError extends Error {
  readonly code: ExpectationErrorCode;
  /** Of the first character that does not fit, counted from 0 in UTF-16 code units. */
  readonly position: number;
  /** What is allowed at this place, such as `a column or a value`. */
  readonly expected: string;

  constructor(code: ExpectationErrorCode, position: number, expected: string, found: string) {
    super(`at character ${position + 1}: expected ${expected}, found ${found}`);
    this.name = "ExpectationError";
    this.code = code;
    this.position = position;
    this.expected = expected;
  }
}
