import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";

/** Files and connections of this process: how many are open, and how many may be. */
export interface OpenFiles {
  open: number;
  limit: number;
}

/** No limit, or a system that does not tell. */
const UNLIMITED = Number.POSITIVE_INFINITY;

export function openFileLimit(): number {
  try {
    return limitIn(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return UNLIMITED;
  }
}

/** @param before the last answer, because a process that has used up its limit cannot even look */
export async function countOpenFiles(before: OpenFiles | null): Promise<OpenFiles | null> {
  try {
    const limit = limitIn(await readFile("/proc/self/limits", "utf8"));
    return { open: (await readdir("/proc/self/fd")).length, limit };
  } catch (error) {
    if (errorCode(error) !== "EMFILE") return null;
    const limit = before?.limit ?? 1;
    return { open: limit, limit };
  }
}

function limitIn(limits: string): number {
  const [, soft = ""] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === "" ? UNLIMITED : Number(soft);
}
