import { plainLine, plainText } from "@attestore/proof";
import type { Logger } from "./logger.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof LEVELS)[number];
/** `json` for programs, one object on each line; `text` for a person at a terminal. */
export type LogFormat = "json" | "text";

/** Writes one line for each call that is at least as severe as the given level. */
export function createStreamLogger(
  stream: { write(text: string): unknown },
  least: LogLevel,
  format: LogFormat,
): Logger {
  const line = (level: LogLevel) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return () => undefined;
    const formatLine = format === "json" ? jsonLine : textLine;
    return (fields: object, message: string) => void stream.write(formatLine(level, fields, message));
  };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function jsonLine(level: LogLevel, fields: object, message: string): string {
  return `${plainText(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }, plain))}\n`;
}

function textLine(level: LogLevel, fields: object, message: string): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value, plain)}`);
  const line = `${new Date().toISOString().slice(11, 19)} ${level.padEnd(5)} ${message}${rest.join("")}`;
  return `${plainLine(line)}\n`;
}

/** JSON would show nothing of an Error. */
function plain(_name: string, value: unknown): unknown {
  if (value instanceof Error) {
    const code = "code" in value && typeof value.code === "string" ? { code: value.code } : {};
    return { type: value.name, message: value.message, ...code, stack: value.stack, cause: value.cause };
  }
  return typeof value === "bigint" ? String(value) : value;
}
