/** The limits of a sandbox's programs. */
export interface SandboxLimits {
  /** For everything in the sandbox's directory. */
  readonly disk_bytes: number;
  /** For each file. */
  readonly file_bytes: number;
  readonly processes: number;
}
