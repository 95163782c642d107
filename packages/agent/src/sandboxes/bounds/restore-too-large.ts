import { formatBytes } from "@attestore/proof";

/** A dump unpacks to far more than its maker signed. */
export class RestoreTooLarge extends Error {
  readonly code = "restore_too_large";

  constructor(bytes: number) {
    super(
      `the restore took more than ${formatBytes(bytes)} of disk space, more than the backup's signed size or limits.restore_disk allows: it was stopped`,
    );
    this.name = "RestoreTooLarge";
  }
}
