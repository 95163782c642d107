import { errorMessage } from "@attestore/host/errno";
import { fileTrouble } from "@attestore/host/file-trouble";
import { RunError } from "../../errors/run-error.ts";
import { noSpace } from "../../errors/no-space.ts";
import { SourceConfigError } from "../../config/source-config.ts";
import { UserError } from "../../errors/user-error.ts";
import { DamagedFile } from "../../state/damaged-file.ts";
import { ServiceError } from "../../transport/service-error.ts";
import type { ExitCode } from "./command.ts";

export interface Failure {
  readonly exitCode: ExitCode;
  /** A code for programs. */
  readonly code: string;
  readonly message: string;
  /** The message as a person at this host is shown it. */
  readonly shown: string;
  /** Our own bug, so it is shown with its stack. */
  readonly isDefect: boolean;
}

/** Returns what an error that ended a command means to the caller. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  const known = (exitCode: ExitCode, code: string, message: string): Failure => ({
    exitCode,
    code,
    message,
    shown: shownBy(error) ?? message,
    isDefect: false,
  });
  if (error instanceof RunError) {
    if (error.code === "interrupted") return known(130, error.code, "interrupted");
    // The source was there, but its dump failed. That is a result, not a reason to try again.
    return known(error.code === "dump_failed" ? 1 : 2, error.code, error.message);
  }
  if (signal.aborted) return known(130, "interrupted", "interrupted");
  if (
    error instanceof UserError ||
    error instanceof ServiceError ||
    error instanceof SourceConfigError ||
    error instanceof DamagedFile
  )
    return known(2, error.code, error.message);
  const full = noSpace(error);
  if (full !== null) return known(2, "disk_full", full);
  const message = errorMessage(error);
  const system = error instanceof Error && "code" in error && "syscall" in error ? String(error.code) : null;
  if (system !== null) return known(2, system.toLowerCase(), fileTrouble(error) ?? message);
  return { exitCode: 2, code: "defect", message, shown: message, isDefect: true };
}

/**
 * A ConfigError's lines and carets. Its class is not loaded here, because help need not wait for
 * it.
 */
export function shownBy(error: unknown): string | null {
  return error instanceof UserError && "shown" in error && typeof error.shown === "string"
    ? error.shown
    : null;
}
