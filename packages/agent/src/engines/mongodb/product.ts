/** The two products that speak this protocol; they store and check differently. */
export type Product = "MongoDB" | "FerretDB";

/** As a backup's metadata have it: `7.0.14`, or FerretDB's own with its name, `1.24.2-FerretDB`. */
export function productOf(version: unknown): Product {
  return typeof version === "string" && version.endsWith("-FerretDB") ? "FerretDB" : "MongoDB";
}

/**
 * Major and minor of a version, such as 700; 0 for what is none. Of these the smaller one is the
 * older one.
 */
export function releaseOf(version: unknown): number {
  const [, major, minor] =
    (typeof version === "string" ? /^([0-9]{1,3})\.([0-9]{1,3})\b/.exec(version) : null) ?? [];
  return major === undefined ? 0 : Number(major) * 100 + Number(minor);
}
