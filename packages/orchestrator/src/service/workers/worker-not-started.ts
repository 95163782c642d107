/** How a process ended. */
export interface End {
  code: number | null;
  signal: string | null;
}

/** The first worker ended while it started. It has said why. */
export class WorkerNotStarted extends Error {
  readonly end: End;

  constructor(end: End) {
    super(`the first worker ended while it started (${end.signal ?? end.code})`);
    this.end = end;
  }
}
