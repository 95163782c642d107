/**
 * A pattern as one expression for each part of a path; null for one that would lead out of the
 * directory.
 */
export function globPattern(pattern: string): RegExp[] | null {
  const parts = pattern.split("/");
  if (parts.length > 8 || parts.some((part) => part === "" || part === "." || part === "..")) return null;
  return parts.map((part) => {
    const hidden = part.startsWith(".") ? "" : "(?!\\.)";
    // Several stars in a row count as one, so an expression can't take for ever.
    const expression = part
      .replaceAll(/\*+/g, "*")
      .replaceAll(/[^A-Za-z0-9]/g, (character) =>
        character === "*"
          ? "[^/]*"
          : character === "?"
            ? "[^/]"
            : `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`,
      );
    return new RegExp(`^${hidden}${expression}$`, "u");
  });
}
