/** One finding of doctor. */
export interface Finding {
  readonly title: string;
  readonly result: "good" | "warn" | "bad";
  readonly detail: string;
  /** The next step for the user; null if there is none. */
  readonly next: string | null;
}

export const good = (title: string, detail: string): Finding => ({
  title,
  result: "good",
  detail,
  next: null,
});

/** It works, but needs attention. */
export const warn = (title: string, detail: string, next: string): Finding => ({
  title,
  result: "warn",
  detail,
  next,
});

/** It prevents backups or proofs. */
export const bad = (title: string, detail: string, next: string): Finding => ({
  title,
  result: "bad",
  detail,
  next,
});
