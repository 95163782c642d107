/** Scheduled work of the service, shared by all its replicas. */
export interface Job {
  /** Never changes: the database identifies the job by it. */
  name: string;
  /** Seconds from the start of one run to the start of the next. */
  every_s: number;
  /**
   * One run. It may be cut off anywhere by kill -9, and in rare moments two replicas run it at the
   * same time; it has to be safe for both. Whatever it throws is logged, and the next run comes on
   * time.
   */
  run(context: JobContext): Promise<void>;
}

export interface JobContext {
  now: Date;
  /** Since when some replica has run this job without a long pause. */
  runningSince: Date;
  /** Aborted when the service shuts down: a run stops after its current step. */
  signal: AbortSignal;
}
