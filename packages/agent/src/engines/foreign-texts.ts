const MAX_TEXTS = 1_000;

/**
 * Returns the texts of a list that we received. Leaves out everything that is not a text or is
 * longer than `max`.
 */
export function textsOf(value: unknown, max: number): string[] {
  const texts = Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
  return texts
    .filter((text) => text !== "" && text.length <= max && !text.includes("\0"))
    .slice(0, MAX_TEXTS);
}
