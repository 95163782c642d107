import { readFile } from "node:fs/promises";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { join } from "node:path";

/**
 * The file that a postmaster writes about itself into its data directory (`miscadmin.h`,
 * LOCK_FILE_LINE_*).
 */
export interface PostmasterPid {
  pid: number;
  port: number;
  /** Null before it has opened its socket. */
  socketDirectory: string | null;
  ready: boolean;
  /** Somebody told it to stop, and it waits for its sessions. */
  stopping: boolean;
}

/**
 * Null if there is no such file, or if it is so short that its postmaster can't have opened a
 * socket.
 */
export async function readPostmasterPid(clusterDirectory: string): Promise<PostmasterPid | null> {
  const text = await nullIfMissing(readFile(join(clusterDirectory, "postmaster.pid"), "utf8"));
  return text === null ? null : parsePostmasterPid(text);
}

export function parsePostmasterPid(text: string): PostmasterPid | null {
  const [pid, , , port, socketDirectory, , , status] = text.split("\n").map((line) => line.trim());
  if (pid === undefined || !/^\d{1,10}$/.test(pid)) return null;
  return {
    pid: Number(pid),
    port: port !== undefined && /^\d{1,5}$/.test(port) ? Number(port) : 0,
    socketDirectory: socketDirectory === undefined || socketDirectory === "" ? null : socketDirectory,
    ready: status === "ready",
    stopping: status === "stopping",
  };
}
