const MAX_TEXTS = 1_000;

/** The texts of a list that came over the wire; what is none, or longer than `max`, is left out. */
export function textsOf(value: unknown, max: number): string[] {
  const texts = Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
  return texts
    .filter((text) => text !== "" && text.length <= max && !text.includes("\0"))
    .slice(0, MAX_TEXTS);
}
