import { errorCode } from "@attestore/host/errno";

const NOT_THERE = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/**
 * The result of work on an object's file; null if there is no such file, or can't be one with this
 * name.
 */
export async function nullIfNoObject<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (NOT_THERE.has(errorCode(error) ?? "")) return null;
    throw error;
  }
}
