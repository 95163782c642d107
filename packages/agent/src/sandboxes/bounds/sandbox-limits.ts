/** What the programs of a sandbox may use. */
export interface SandboxLimits {
  /** For everything in the sandbox's directory. */
  readonly disk_bytes: number;
  /** For each file. */
  readonly file_bytes: number;
  readonly processes: number;
}
