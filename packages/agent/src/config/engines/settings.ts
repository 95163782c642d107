import type { SandboxKind } from "../sandbox-config.ts";
import type { SourceFields } from "../source-fields.ts";

/**
 * How an engine reads the fields of its sources in config.yaml, besides those that every source
 * has.
 */
export interface EngineSettings<Settings extends object> {
  /** For messages, and to recognise a mistyped one. */
  readonly fields: readonly string[];
  /** The kinds of sandbox that its backups can be restored in; only `process` by default. */
  readonly sandboxes?: readonly SandboxKind[];
  /** Null only if an issue was reported. */
  parse(fields: SourceFields): Settings | null;
}
