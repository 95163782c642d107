import { readFileSync } from "node:fs";
import { errorCode } from "@attestore/host/errno";

const LINE = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/;

/**
 * Sets what a root's file `env` contains and the environment does not, so that a command typed by a
 * person finds the secrets that the service's unit is started with. Read as systemd reads it
 * (EnvironmentFile= of systemd.exec(5)), except for continued lines. A missing or unreadable file
 * sets nothing.
 */
export function loadEnvironmentFile(path: string, env: Record<string, string | undefined>): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "EACCES", "ENOTDIR"].includes(errorCode(error) ?? "")) return;
    throw error;
  }
  for (const [name, value] of parseEnvironmentFile(text)) env[name] ??= value;
}

export function parseEnvironmentFile(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split("\n")) {
    // Comments begin with # or ; and have no name.
    const [, name, value = ""] = LINE.exec(line) ?? [];
    if (name !== undefined) found.set(name, unquoted(value.trim()));
  }
  return found;
}

function unquoted(value: string): string {
  const [, single] = /^'([^']*)'$/.exec(value) ?? [];
  if (single !== undefined) return single;
  const [, double] = /^"((?:[^"\\]|\\.)*)"$/.exec(value) ?? [];
  if (double !== undefined) return double.replaceAll(/\\(["\\$`])/g, "$1");
  return value.replaceAll(/\\(.)/g, "$1");
}
