/**
 * A file of the root that is not what the agent wrote: a disk error, a full disk of an earlier
 * version, or an editor. What is lost without it differs, so a person decides.
 */
export class DamagedFile extends SyntaxError {
  readonly code = "root_damaged";
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(
      // The parser quotes the file in its message, and that may be a secret.
      `${path} is damaged: it is not JSON. Put a copy of it back, or move it out of the root: ` +
        `docs/agent.md, "A damaged file of the root", says what is lost then. \`attestore doctor\` lists all such files.`,
      { cause },
    );
    this.name = "DamagedFile";
    this.path = path;
  }
}
