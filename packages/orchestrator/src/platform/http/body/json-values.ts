import { hasRepeatedMember } from "@attestore/proof";

const MAX_DEPTH = 64;

/**
 * Finds faults of a value that was parsed from `text`, which JSON allows but which would fail later
 * as a bug of ours: text with NUL or half a surrogate pair (PostgreSQL stores neither), numbers
 * that JavaScript reads as infinite, nesting that exhausts the stack, names that reach an object's
 * prototype, and a member twice, of which another parser may keep the other one. Null if there are
 * none.
 */
export function problemOf(value: unknown, text: string): string | null {
  let members = 0;
  // A stack of our own, because the caller decides how deep it nests.
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "string") {
        if (!isStorable(item)) return "holds text with NUL or half of a surrogate pair";
      } else if (typeof item === "number") {
        if (!Number.isFinite(item)) return "holds a number that is too large";
      } else if (Array.isArray(item)) {
        for (const element of item) next.push(element);
      } else if (typeof item === "object" && item !== null) {
        const object = item as Record<string, unknown>;
        // Twice as fast as Object.entries, which matters with a hundred thousand names.
        for (const key of Object.keys(object)) {
          if (!isStorable(key)) return "holds a name with NUL or half of a surrogate pair";
          if (reachesPrototype(key, object[key])) return "holds a name that reaches an object's prototype";
          members += 1;
          next.push(object[key]);
        }
      }
    }
    level = next;
  }
  return hasRepeatedMember(text, members) ? "holds an object with the same member twice" : null;
}

/** Whether a parsed JSON value, with at most the nesting above, contains more than `max` values. */
export function hasMoreValues(value: unknown, max: number): boolean {
  let left = max;
  const isPast = (item: unknown): boolean => {
    if (typeof item !== "object" || item === null) return false;
    // Counted before any is looked at: for an object with very many names, that alone takes long.
    left -= Array.isArray(item) ? item.length : Object.keys(item).length;
    return left < 0 || Object.values(item).some(isPast);
  };
  return isPast(value);
}

/** As an own member it is harmless until it is copied with the others. */
function reachesPrototype(key: string, value: unknown): boolean {
  if (key === "__proto__") return true;
  return (
    key === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype")
  );
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
