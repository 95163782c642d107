import { isPackPath, PACK_FILES } from "@attestore/proof";
import { fail } from "./zip-error.ts";

/** Decodes the name of an entry. PowerShell's archives may use Windows' separators. */
export function nameOf(bytes: Uint8Array, madeOnWindows: boolean): string {
  const name = latin1(bytes);
  return madeOnWindows ? name.replaceAll("\\", "/") : name;
}

/** What macOS adds next to files. No path of a pack begins like this. */
const OF_MACOS = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|\._[^/]*)$/;

export function isOfMacos(name: string): boolean {
  return OF_MACOS.test(name);
}

// eslint-disable-next-line no-control-regex -- what is refused
const TOP = /^[^/\\:\u0000-\u001f\u007f]{1,255}$/;

/**
 * The folder that contains everything, with its slash, if somebody unpacked a pack and zipped the
 * folder; else empty. The manifest is in that folder.
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

/** Returns the path in the pack. Throws ZipError. */
export function packPath(name: string, top: string): string {
  const path = name.slice(top.length);
  return isPackPath(path)
    ? path
    : fail(`${JSON.stringify(path.slice(0, 100))} is not the path of a file in a pack`);
}

/** Each byte as the character of its number, as ZIP's oldest names have it. */
function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
