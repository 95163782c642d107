import type { SandboxKind } from "../sandbox-config.ts";
import type { SourceFields } from "../source-fields.ts";

/**
 * How an engine reads what a source of its kind has in config.yaml, besides what every source has.
 */
export interface EngineSettings<Settings extends object> {
  /** For messages, and to know a mistyped one. */
  readonly fields: readonly string[];
  /**
   * The kinds of sandbox that its backups can be restored in: `process` alone unless it says so.
   */
  readonly sandboxes?: readonly SandboxKind[];
  /** Null only if an issue was reported. */
  parse(fields: SourceFields): Settings | null;
}
