import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
} from "node:fs";
import { basename, dirname, join, parse } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { RunError } from "../errors/run-error.ts";
import { UserError } from "../errors/user-error.ts";

/** @throws UserError usage */
export function requireUnused(path: string, name: string): void {
  // A link whose target is missing exists too.
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new UserError("usage", `${name} already exists: move it away or choose another --output`);
}

/**
 * A file that root asks for, made by the owner of a root, who may not write where root does, such
 * as /root. It is made in a directory beside its place, which is this process's working directory
 * and belongs to that owner. A shell that stays root puts it into its place, and does nothing else:
 * it takes a regular file of the name that root gave, once `keep` says so, and replaces nothing.
 * Whatever ends this process before leaves nothing.
 */
export class HandOver {
  readonly #target: string;
  readonly #shell: ChildProcess;

  private constructor(target: string, shell: ChildProcess) {
    this.#target = target;
    this.#shell = shell;
  }

  /**
   * Null where root can't write either: the owner then gets the error that anybody would. Changes
   * the working directory.
   * @throws UserError usage if the target exists already
   */
  static begin(target: string, owner: { readonly uid: number; readonly gid: number }): HandOver | null {
    requireUnused(target, target);
    const directory = enterDirectoryOf(target, owner);
    if (directory === null) return null;
    const { name, ext } = parse(target);
    const shell = spawn("/bin/sh", ["-c", PUT_INTO_PLACE, "sh", directory, `${name}${ext}`, name, ext], {
      // Ctrl-C at a terminal ends this process only.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    });
    shell.unref();
    shell.stdin?.on("error", () => undefined);
    return new HandOver(target, shell);
  }

  /** Where to make the file that belongs at `path`, and its pages. */
  pathFor(path: string): string {
    return dirname(path) === dirname(this.#target) ? basename(path) : path;
  }

  /** @throws RunError `output_unwritable` if it could not be put into its place */
  async keep(): Promise<void> {
    this.#shell.stdin?.write("keep\n");
    await this.end();
    if (this.#shell.exitCode === 0) return;
    throw new RunError(
      "output_unwritable",
      `${this.#target} could not be put into its place, and nothing was replaced: choose another --output`,
    );
  }

  /** Leaves nothing of what is not kept. */
  async end(): Promise<void> {
    const shell = this.#shell;
    shell.ref();
    shell.stdin?.end();
    if (shell.exitCode === null && shell.signalCode === null) await once(shell, "exit");
  }
}

/**
 * Makes an empty directory beside the target, gives it to the owner and enters it. Returns its
 * name. Others may write beside the target too, so what was made is not looked up by its name
 * again.
 */
function enterDirectoryOf(
  target: string,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): string | null {
  let made: number | null = null;
  try {
    const path = mkdtempSync(join(dirname(target), ".attestore-"));
    made = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const itself = `/proc/self/fd/${made}`;
    if (fstatSync(made).uid !== 0 || readdirSync(itself).length > 0) return null;
    process.chdir(itself);
    fchownSync(made, uid, gid);
    return basename(path);
  } catch (error) {
    // For example a disk of another machine that knows no root.
    if (errorCode(error) !== null) return null;
    throw error;
  } finally {
    if (made !== null) closeSync(made);
  }
}

/**
 * The directory becomes root's first, so that nobody exchanges what is looked at. A recovery kit in
 * shares is several files, `kit-1.txt` and so on: all are looked at before the first is moved.
 */
const PUT_INTO_PLACE = `
directory=$1 name=$2 stem=$3 ending=$4
read -r word
chown 0:0 . && chmod 700 . || exit 1
status=0
if [ "$word" = keep ]; then
  for file in ./*; do
    file=\${file#./}
    case $file in
      "$name" | "$stem"-[0-9]*"$ending") [ -f "./$file" ] && [ ! -L "./$file" ] && [ ! -e "../$file" ] && [ ! -L "../$file" ] || status=1 ;;
      *) status=1 ;;
    esac
  done
  for file in ./*; do
    file=\${file#./}
    [ $status = 0 ] && chown 0:0 "./$file" && chmod 600 "./$file" && mv -nT "./$file" "../$file" && [ ! -e "./$file" ] || status=1
  done
  sync ..
fi
find . -mindepth 1 -delete
cd .. && rmdir "$directory"
exit $status
`;
