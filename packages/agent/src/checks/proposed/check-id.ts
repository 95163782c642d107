const MAX_ID = 63;

/** Such as `fresh-orders`, from names that may have any sign in them. */
export function checkId(...parts: readonly string[]): string {
  return parts
    .map((part) =>
      part
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/^-+|-+$/g, ""),
    )
    .filter((part) => part !== "")
    .join("-")
    .slice(0, MAX_ID);
}
