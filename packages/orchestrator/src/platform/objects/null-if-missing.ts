import { errorCode } from "@attestore/host/errno";

const NOT_THERE = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** What comes of work on a file; null where there is no such file, nor can be one. */
export async function nullIfMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (NOT_THERE.has(errorCode(error) ?? "")) return null;
    throw error;
  }
}
