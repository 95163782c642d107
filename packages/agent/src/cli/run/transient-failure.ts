import { isDiskFull } from "@attestore/host/errno";
import type { Layout } from "../../state/layout.ts";
import { ServiceError } from "../../transport/service-error.ts";

export interface TransientFailure {
  readonly of: "service" | "disk";
  /** A sentence. */
  readonly message: string;
  readonly retryAfter_s: number | null;
}

/**
 * Errors that a loop of a running agent waits out; null for a bug, which ends the agent. With a
 * full disk nothing new is accepted: a command that cannot be recorded is not acknowledged, and
 * comes again.
 */
export function transientFailure(error: unknown, layout: Layout): TransientFailure | null {
  if (error instanceof ServiceError)
    return { of: "service", message: error.message, retryAfter_s: error.retryAfter_s };
  return isDiskFull(error) ? { of: "disk", message: diskFull(layout), retryAfter_s: null } : null;
}

export function diskFull({ root }: Layout): string {
  return `no space left on the disk of ${root}: no run is started or recorded until there is some`;
}
