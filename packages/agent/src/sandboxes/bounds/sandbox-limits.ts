/** What the programs of a sandbox may take. */
export interface SandboxLimits {
  /** Of all that lies in the sandbox's directory. */
  readonly disk_bytes: number;
  /** Of each file. */
  readonly file_bytes: number;
  readonly processes: number;
}
