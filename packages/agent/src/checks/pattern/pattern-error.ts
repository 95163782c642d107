/**
 * The fault of a pattern, and its place; the parser of the expression around it tells the person.
 */
export class PatternError extends Error {
  readonly code = "pattern_malformed";
  /** In UTF-16 code units from the pattern's start. */
  readonly position: number;
  readonly expected: string;
  readonly found: string;

  constructor(position: number, expected: string, found: string) {
    super(`at character ${position + 1} of the pattern: expected ${expected}, found ${found}`);
    this.name = "PatternError";
    this.position = position;
    this.expected = expected;
    this.found = found;
  }
}
