import { errorCode } from "./errno.ts";

/** What comes of work on a file; null where there is no such file. Every other error is thrown. */
export async function nullIfMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}
