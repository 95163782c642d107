/** What doctor found out about one thing. */
export interface Finding {
  readonly title: string;
  readonly result: "good" | "warn" | "bad";
  readonly detail: string;
  /** What to do; null if nothing. */
  readonly next: string | null;
}

export const good = (title: string, detail: string): Finding => ({
  title,
  result: "good",
  detail,
  next: null,
});

/** Works, but deserves a look. */
export const warn = (title: string, detail: string, next: string): Finding => ({
  title,
  result: "warn",
  detail,
  next,
});

/** Keeps backups or proofs from being made. */
export const bad = (title: string, detail: string, next: string): Finding => ({
  title,
  result: "bad",
  detail,
  next,
});
