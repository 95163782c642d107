import { errorCode } from "@attestore/host/errno";

const NOT_THERE = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/**
 * What comes of work on an object's file; null where there is none, nor can be one of such a name.
 */
export async function nullIfNoObject<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (NOT_THERE.has(errorCode(error) ?? "")) return null;
    throw error;
  }
}
