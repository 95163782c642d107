import { errorCode } from "./errno.ts";

/**
 * Returns the result of work on a file, or null if the file does not exist. Rethrows every other
 * error.
 */
export async function nullIfMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}
