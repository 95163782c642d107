import { PRINTED_RULES } from "./printed-rules.ts";
import { type Part, sqlParts, sqlText } from "./sql-words.ts";

/**
 * An expression or statement that PostgreSQL printed, in the form in which a restored copy of it
 * prints it too. Two texts with the same form mean the same. Only the rules, and the space between
 * words, make texts alike; quoted text is never changed. A text that is not SQL is returned
 * unchanged.
 */
export function asReadBack(printed: string): string {
  const parts = sqlParts(printed, rewritten);
  return parts === null ? printed : sqlText(parts);
}

function rewritten(parts: readonly Part[]): readonly Part[] {
  return PRINTED_RULES.reduce((rest, rule) => rule(rest), parts);
}
