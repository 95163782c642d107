import { clip } from "../../checks/index.ts";

/** A text that fits into an answer, and is Unicode. */
export function clipped(text: string, max: number): string {
  return clip(text.toWellFormed(), max - 1);
}
