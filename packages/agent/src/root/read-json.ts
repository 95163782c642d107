import { readFile } from "node:fs/promises";
import { systemCode } from "./system-code.ts";

/** A file of the root that we wrote ourselves; null if it is not there. Throws SyntaxError if it is not JSON. */
export async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  return text === null ? null : (JSON.parse(text) as unknown);
}

/** A text file's content, or null if it is not there. */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}
