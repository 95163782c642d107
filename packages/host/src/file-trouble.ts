import { errorCode, errorMessage } from "./errno.ts";

const TEXTS: Readonly<Record<string, string>> = {
  EACCES: "give it to the user that runs this (chown), or run this as its owner or as root",
  EPERM: "give it to the user that runs this (chown), or run this as its owner or as root",
  EROFS: "its file system is read-only. Mount it so that it can be written (mount -o remount,rw)",
  ENOSPC: "there is no room left on its file system. Make room there, then try again",
  EDQUOT: "its owner's disk quota is used up. Make room, or raise the quota, then try again",
  EMFILE:
    "this process may not open more files. Raise the limit (ulimit -n, or LimitNOFILE= of a systemd unit)",
  ENFILE: "this machine has no room for more open files. Raise fs.file-max, or stop other programs",
  EIO: "the disk reports an error. Look at the kernel's log (dmesg), and restore from a backup if it is lost",
  EISDIR: "it is a directory and must be a file. Restore the file from a backup",
  ENOTDIR: "something in its path is a file and must be a directory. Move that away",
};

/**
 * What the operating system refused to do with which file, and what to do next; null for an error
 * that nobody but us can put right.
 */
export function fileTrouble(error: unknown): string | null {
  const code = errorCode(error);
  const next = code === null ? undefined : TEXTS[code];
  if (next === undefined || !(error instanceof Error) || !("syscall" in error)) return null;
  // The path of a spawn is the program's, also where its user or directory is the reason.
  const isOfProcess = /^(spawn|kill)/.test(String(error.syscall));
  if (isOfProcess && code !== "EMFILE" && code !== "ENFILE") return null;
  const path = "path" in error && typeof error.path === "string" ? error.path : null;
  return path === null ? `${errorMessage(error)}: ${next}.` : `${path} cannot be used (${code}): ${next}.`;
}
