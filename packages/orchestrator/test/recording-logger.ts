import type { Logger } from "../src/platform/logging/logger.ts";

interface Line {
  level: "debug" | "info" | "warn" | "error";
  fields: object;
  message: string;
}

/**
 * Keeps what the service logs, so that a test can ask for it; errors also go to stderr, where a
 * failing test shows them.
 */
export class RecordingLogger implements Logger {
  readonly lines: Line[] = [];
  /** Errors that a test brings about, which need not be shown. */
  readonly expected = new Set<string>();

  debug(fields: object, message: string): void {
    this.lines.push({ level: "debug", fields, message });
  }

  info(fields: object, message: string): void {
    this.lines.push({ level: "info", fields, message });
  }

  warn(fields: object, message: string): void {
    this.lines.push({ level: "warn", fields, message });
  }

  error(fields: object, message: string): void {
    this.lines.push({ level: "error", fields, message });
    if (!this.expected.has(message)) console.error(message, fields);
  }

  has(message: string): boolean {
    return this.lines.some((line) => line.message === message);
  }
}
