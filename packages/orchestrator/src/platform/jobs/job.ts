/** Something that the service does by the clock, in all its replicas together. */
export interface Job {
  /** Stays what it is: the database knows the job by it. */
  name: string;
  /** Seconds from one run's start to the next one's. */
  every_s: number;
  /**
   * One run. It may be cut off anywhere by kill -9, and in rare moments two replicas are in one at
   * the same time: what it does has to be safe for both. What it throws is logged, and the next run
   * comes at its time.
   */
  run(context: JobContext): Promise<void>;
}

export interface JobContext {
  now: Date;
  /** Since when some replica has run this job without a long pause. */
  runningSince: Date;
  /** Aborted when the service shuts down: a run stops after the step that it is in. */
  signal: AbortSignal;
}
