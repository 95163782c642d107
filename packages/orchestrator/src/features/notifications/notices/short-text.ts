const MAX = 500;

/** As much of an agent's text as a message shows; empty if it is not a text. */
export function shortText(value: unknown): string {
  if (typeof value !== "string") return "";
  return value.length <= MAX ? value : `${value.slice(0, MAX)}…`;
}
