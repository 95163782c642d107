/** The two products that speak this protocol. They store and check differently. */
export type Product = "MongoDB" | "FerretDB";

/**
 * As in a backup's metadata: `7.0.14`, or FerretDB's own version with its name, `1.24.2-FerretDB`.
 */
export function productOf(version: unknown): Product {
  return typeof version === "string" && version.endsWith("-FerretDB") ? "FerretDB" : "MongoDB";
}

/**
 * Major and minor of a version as one number, such as 700; 0 if it is not a version. The smaller
 * number is the older version.
 */
export function releaseOf(version: unknown): number {
  const [, major, minor] =
    (typeof version === "string" ? /^([0-9]{1,3})\.([0-9]{1,3})\b/.exec(version) : null) ?? [];
  return major === undefined ? 0 : Number(major) * 100 + Number(minor);
}
