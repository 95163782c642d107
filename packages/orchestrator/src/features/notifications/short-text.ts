const MAX = 500;

/**
 * Text that somebody's agent wrote, as much of it as a message shows; empty for what is no text.
 */
export function shortText(value: unknown): string {
  if (typeof value !== "string") return "";
  return value.length <= MAX ? value : `${value.slice(0, MAX)}…`;
}
