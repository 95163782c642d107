import type { CheckedLine, Verdict } from "../outcome.ts";

const TITLES = {
  zip: "archive contains plain files only",
  manifest: "every file matches the manifest",
  log_key: "the pack's log key is the one given",
  manifest_signature: "manifest signed by the log's key",
  checkpoint: "checkpoint signed by the log",
  generations: "generations of the log, and the events that began them",
  witnesses: "checkpoint cosigned by witnesses",
  range: "every leaf of the range is in the checkpoint's tree",
  period: "range covers the whole period",
  receipts: "receipts signed by their agents and in the log",
  content: "content that came back, against the backups' receipts",
  draws: "draws of backups to test, each with its result",
  events: "events in the log",
  complete: "everything recorded in the period is there",
  agents: "agents' keys match the log",
  agent_keys: "keys that signed are the ones given",
  chains: "agents' chains of receipts have no gap",
  runs: "scheduled runs match the receipts and events",
  schedules: "policy matches the log, and no scheduled time is left out",
  summary: "summary's numbers match a new count",
  page: "index.html matches the summary",
} as const;

export type PackCheckId = keyof typeof TITLES;

/**
 * Checks that are only made on request, or only if there is something to check. Otherwise they have
 * no line.
 */
const IF_ASKED: readonly PackCheckId[] = ["witnesses", "generations", "content", "draws"];

/** At most this many findings of one check are named; the rest is counted. */
const MAX_NAMED = 10;

/** Collects the findings about a pack. A check has failed if one of its findings has. */
export class Findings {
  readonly #failed = new Map<PackCheckId, { named: string[]; count: number }>();
  readonly #open = new Map<PackCheckId, { detail: string; hint: string | null }>();
  readonly #aside = new Map<PackCheckId, string>();
  readonly #held = new Map<PackCheckId, string>();

  fail(id: PackCheckId, what: string): void {
    const failed = this.#failed.get(id) ?? { named: [], count: 0 };
    failed.count += 1;
    if (failed.named.length < MAX_NAMED) failed.named.push(what);
    this.#failed.set(id, failed);
  }

  hold(id: PackCheckId, detail: string): void {
    this.#held.set(id, detail);
  }

  leaveOpen(id: PackCheckId, detail: string, hint: string | null = null): void {
    if (!this.#open.has(id)) this.#open.set(id, { detail, hint });
  }

  /** Not everything could be checked, but the verdict does not depend on it. */
  leaveAside(id: PackCheckId, detail: string): void {
    this.#aside.set(id, detail);
  }

  /** Adds what others found. */
  takeOver(other: Findings): void {
    for (const [id, { named, count }] of other.#failed) {
      const failed = this.#failed.get(id) ?? { named: [], count: 0 };
      const room = MAX_NAMED - failed.named.length;
      this.#failed.set(id, {
        named: [...failed.named, ...named.slice(0, room)],
        count: failed.count + count,
      });
    }
    for (const [id, { detail, hint }] of other.#open) this.leaveOpen(id, detail, hint);
    for (const [id, detail] of other.#aside) this.#aside.set(id, detail);
    for (const [id, detail] of other.#held) this.#held.set(id, detail);
  }

  lines(): CheckedLine[] {
    return (Object.keys(TITLES) as PackCheckId[])
      .filter((id) => !IF_ASKED.includes(id) || this.#isLooked(id))
      .map((id) => ({ id, title: TITLES[id], ...this.#result(id) }));
  }

  verdict(): Verdict {
    const lines = this.lines();
    if (lines.some(({ result }) => result === "failed")) return "false";
    const isDecided = lines.every(({ id, result }) => result === "held" || this.#isAside(id));
    return isDecided ? "true" : "cannot_tell";
  }

  #isLooked(id: PackCheckId): boolean {
    return this.#failed.has(id) || this.#open.has(id) || this.#held.has(id);
  }

  #isAside(id: string): boolean {
    return [...this.#aside.keys()].some((aside) => aside === id);
  }

  #result(id: PackCheckId): Pick<CheckedLine, "result" | "detail" | "hint"> {
    const failed = this.#failed.get(id);
    if (failed !== undefined) {
      const more = failed.count - failed.named.length;
      const detail = failed.named.join("; ") + (more > 0 ? `; and ${more} more` : "");
      return { result: "failed", detail, hint: null };
    }
    const open = this.#open.get(id);
    if (open !== undefined) return { result: "not_checked", ...open };
    const aside = this.#aside.get(id);
    if (aside !== undefined) return { result: "not_checked", detail: aside, hint: null };
    const held = this.#held.get(id);
    if (held !== undefined) return { result: "held", detail: held, hint: null };
    return { result: "not_checked", detail: "a file needed for this check could not be read", hint: null };
  }
}
