import type { Retention, RetentionReason } from "@attestore/contract";
import { byTime, hasRules, keepReasons, type Kept } from "./rules.ts";

export interface Candidate extends Kept {
  provenAt: Date | null;
  /** When it last failed a restore test. */
  failedAt: Date | null;
  sizeBytes: number;
  /** As its agent says, and nothing here goes by it. */
  madeAt: Date;
  sha256: Buffer;
  /** Somebody said that it stays. */
  keptAt: Date | null;
  /** When it goes, where that was announced; and when the organisation was told so. */
  expiresAt: Date | null;
  toldAt: Date | null;
}

export interface Decision {
  backup: Candidate;
  /** Empty where it goes. */
  reasons: RetentionReason[];
}

export interface PlanInput {
  /** The source's backups that are available, all of them. */
  backups: readonly Candidate[];
  rules: Retention | null;
  zone: string;
  /** Backups that a command needs which has not come to its end. */
  needed: ReadonlySet<string>;
}

/**
 * What becomes of a source's backups, in the order that they are given in. Whatever the rules say,
 * the newest backup that ever passed a restore test stays, the newest whose last one passed (the
 * other may rot, and must not be what this one goes for), what somebody keeps and what a running
 * command needs; without a rule everything does.
 */
export function planRetention({ backups, rules, zone, needed }: PlanInput): Decision[] {
  if (!hasRules(rules)) return backups.map((backup) => ({ backup, reasons: [{ rule: "no_rule" }] }));
  const kept = keepReasons(backups, rules, zone);
  const proven = backups.filter(({ provenAt }) => provenAt !== null).toSorted(byTime);
  const newestProven = new Set([proven.at(-1)?.id, proven.findLast(isStillProven)?.id]);
  return backups.map((backup) => {
    const reasons = [...(kept.get(backup.id) ?? [])];
    if (newestProven.has(backup.id)) reasons.push({ rule: "newest_proven" });
    if (backup.keptAt !== null) reasons.push({ rule: "kept" });
    if (needed.has(backup.id)) reasons.push({ rule: "running_command" });
    return { backup, reasons };
  });
}

function isStillProven({ provenAt, failedAt }: Candidate): boolean {
  return provenAt !== null && (failedAt === null || failedAt <= provenAt);
}
