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

/** The names of a ZIP's entries. */
interface Names {
  readonly count: number;
  name(n: number): string;
}

/**
 * The folder that contains everything, with its slash, if somebody unpacked a pack and zipped the
 * folder; else empty. The manifest is in that folder.
 */
export function topOf(names: Names): string {
  let top: string | null = null;
  let hasManifest = false;
  for (let n = 0; n < names.count; n += 1) {
    const name = names.name(n);
    if (isOfMacos(name)) continue;
    top ??= name.slice(0, name.indexOf("/") + 1);
    if (top === "" || !name.startsWith(top)) return "";
    if (name === `${top}${PACK_FILES.manifest}`) hasManifest = true;
  }
  if (top === null || !hasManifest) return "";
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

/** A call has room for this many arguments. */
const AT_ONCE = 1024;

/** Each byte as the character of its number, as ZIP's oldest names have it. */
export function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE)
    text += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return text;
}
