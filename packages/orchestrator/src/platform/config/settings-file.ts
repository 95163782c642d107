import { readFileSync, statSync } from "node:fs";
import { errorMessage } from "@attestore/host/errno";
import { InvalidValue } from "./setting-types.ts";

/** One line of the file. */
export interface FileValue {
  text: string;
  /** From 1. */
  line: number;
}

const LINE = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/;
const MAX_BYTES = 1024 * 1024;

/**
 * The settings of a file in the form of systemd's EnvironmentFile: `NAME=value` on each line; `#`
 * at the start of a line begins a comment; quotes around a whole value are removed, and nothing is
 * expanded.
 * @throws InvalidValue that names the line
 */
export function readSettingsFile(path: string): Map<string, FileValue> {
  return parseSettingsFile(path, readText(path));
}

export function parseSettingsFile(path: string, text: string): Map<string, FileValue> {
  const values = new Map<string, FileValue>();
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = index + 1;
    const content = raw.trim();
    if (content === "" || content.startsWith("#")) continue;
    const [, name, value] = LINE.exec(content) ?? [];
    if (name === undefined || value === undefined)
      throw new InvalidValue(`${path}, line ${line}: must be NAME=value.`);
    const earlier = values.get(name);
    if (earlier !== undefined)
      throw new InvalidValue(`${path}, line ${line}: ${name} is already set in line ${earlier.line}.`);
    values.set(name, { text: unquoted(path, line, value.trim()), line });
  }
  return values;
}

function unquoted(path: string, line: number, value: string): string {
  const quote = value.charAt(0);
  if (quote !== '"' && quote !== "'") return value;
  if (value.length >= 2 && value.endsWith(quote)) return value.slice(1, -1);
  throw new InvalidValue(`${path}, line ${line}: the value begins with a quote but does not end with one.`);
}

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_BYTES)
      throw new InvalidValue(`${path} is larger than 1 MiB, so it is not a settings file.`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof InvalidValue) throw error;
    throw new InvalidValue(`ATTESTORE_CONFIG names a file that cannot be read: ${errorMessage(error)}.`);
  }
}
