import type { Retention, RetentionReason } from "@attestore/contract";
import { keptByTests } from "@attestore/host/keep-rules";
import { hasRules, keepReasons, type Kept } from "./keep-rules.ts";

export interface Candidate extends Kept {
  provenAt: Date | null;
  /** When it last failed a restore test. */
  failedAt: Date | null;
  /** When a restore test last found that its data stand out. */
  suspiciousAt: Date | null;
  sizeBytes: number;
  /** The agent's own account; nothing here relies on it. */
  madeAt: Date;
  sha256: Buffer;
  /** Somebody decided to keep it. */
  keptAt: Date | null;
  /** When it will be removed, if that was announced, and when the organisation was told. */
  expiresAt: Date | null;
  toldAt: Date | null;
}

export interface Decision {
  backup: Candidate;
  /** Empty if it goes. */
  reasons: RetentionReason[];
}

export interface PlanInput {
  /** All backups of the source that are available. */
  backups: readonly Candidate[];
  rules: Retention | null;
  zone: string;
  /** Backups that an unfinished command needs. */
  needed: ReadonlySet<string>;
}

/**
 * Decides about a source's backups, in the order given. Whatever the rules say, these stay: what
 * `keptByTests` names, backups that somebody keeps, and backups that a running command needs.
 * Without a rule all stay.
 */
export function planRetention({ backups, rules, zone, needed }: PlanInput): Decision[] {
  if (!hasRules(rules)) return backups.map((backup) => ({ backup, reasons: [{ rule: "no_rule" }] }));
  const kept = keepReasons(backups, rules, zone);
  const tested = keptByTests(backups, {
    ever: ({ provenAt }) => provenAt !== null,
    lately: isStillProven,
    clean: isClean,
  });
  return backups.map((backup) => {
    const reasons = [...(kept.get(backup.id) ?? [])];
    const test = tested.get(backup.id);
    if (test !== undefined) reasons.push({ rule: test === "proven" ? "newest_proven" : "newest_clean" });
    if (backup.keptAt !== null) reasons.push({ rule: "kept" });
    if (needed.has(backup.id)) reasons.push({ rule: "running_command" });
    return { backup, reasons };
  });
}

function isStillProven({ provenAt, failedAt }: Candidate): boolean {
  return provenAt !== null && (failedAt === null || failedAt <= provenAt);
}

function isClean(backup: Candidate): boolean {
  const { provenAt, suspiciousAt } = backup;
  return isStillProven(backup) && (suspiciousAt === null || provenAt === null || suspiciousAt < provenAt);
}
