import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory, replaceFile } from "@attestore/host/durable-files";
import { nullIfNoObject } from "./null-if-no-object.ts";

let turn: Promise<unknown> = Promise.resolve();

/**
 * Replaces a file below `root`, and makes the directories on its way. A command may run as root
 * beside a service that does not. Then it writes with the rights of whoever `root`'s parent belongs
 * to: the service could not read root's files, and where its user has put a link, root must not
 * follow it.
 */
export async function writeAsOwner(root: string, path: string, content: string | Uint8Array): Promise<void> {
  const owner = process.getuid?.() === 0 ? await nullIfNoObject(stat(dirname(root))) : null;
  const write = async (): Promise<void> => {
    await makeDirectory(dirname(path));
    await replaceFile(path, content);
  };
  if (owner === null || owner.uid === 0) return write();
  // The rights are those of the whole process, so one after the other.
  const mine = turn.then(() => withRightsOf(owner, write));
  turn = mine.catch(() => undefined);
  return mine;
}

async function withRightsOf(
  { uid, gid }: { uid: number; gid: number },
  work: () => Promise<void>,
): Promise<void> {
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.([gid]);
  process.setegid?.(gid);
  process.seteuid?.(uid);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
    process.setgroups?.(groups);
  }
}
