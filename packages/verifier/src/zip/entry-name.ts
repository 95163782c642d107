import { isPackPath, PACK_FILES } from "@attestore/proof";
import { fail } from "./zip-error.ts";

/** The name of an entry, as its bytes say; of PowerShell's archives with Windows' separators. */
export function nameOf(bytes: Buffer, madeOnWindows: boolean): string {
  const name = bytes.toString("latin1");
  return madeOnWindows ? name.replaceAll("\\", "/") : name;
}

/** What macOS puts beside files: never a file of a pack, whose paths do not begin so. */
const OF_MACOS = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|\._[^/]*)$/;

export function isOfMacos(name: string): boolean {
  return OF_MACOS.test(name);
}

// eslint-disable-next-line no-control-regex -- what is refused
const TOP = /^[^/\\:\u0000-\u001f\u007f]{1,255}$/;

/**
 * The folder that everything lies in, with its slash, where somebody zipped the folder that they
 * had unpacked a pack to; else nothing. The manifest lies in it then.
 */
export function topOf(names: readonly string[]): string {
  const ours = names.filter((name) => !isOfMacos(name));
  const first = ours[0] ?? "";
  const top = first.slice(0, first.indexOf("/") + 1);
  if (
    top === "" ||
    !ours.includes(`${top}${PACK_FILES.manifest}`) ||
    !ours.every((name) => name.startsWith(top))
  )
    return "";
  const name = top.slice(0, -1);
  if (!TOP.test(name) || name === "..")
    fail(`${JSON.stringify(name.slice(0, 100))} is not the name of a folder`);
  return top;
}

/** The path in the pack. Throws ZipError. */
export function packPath(name: string, top: string): string {
  const path = name.slice(top.length);
  return isPackPath(path)
    ? path
    : fail(`${JSON.stringify(path.slice(0, 100))} is not the path of a file in a pack`);
}
