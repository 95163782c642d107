/** A check that follows from the backup itself. */
export interface InferredCheck {
  /** Starts with `inferred:`, which no configured check's id can. */
  readonly id: string;
  /** What it holds the data against, as JSON; its canonical form is what `definition_sha256` covers. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly expectation: string;
  /** @throws QueryRefused, which fails the check; CouldNotRun. */
  run(signal: AbortSignal): Promise<{ readonly held: boolean; readonly observed: Record<string, unknown> }>;
}
