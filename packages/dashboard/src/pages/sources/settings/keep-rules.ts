import { sourceSettingsText } from "../../../text/source-settings.ts";
import type { Retention } from "../queries.ts";

export const RULES = [
  "keep_last",
  "keep_days",
  "keep_daily",
  "keep_weekly",
  "keep_monthly",
  "keep_yearly",
] as const satisfies (keyof Retention)[];

export type Rules = Required<Retention>;

const MAX = 100_000;

export function rulesOf(retention: Retention | null): Rules {
  return Object.fromEntries(RULES.map((rule) => [rule, retention?.[rule] ?? 0])) as Rules;
}

/** The rules to save: only those that keep something; null if there are none. */
export function retentionOf(rules: Rules): Retention | null {
  const kept = RULES.filter((rule) => rules[rule] > 0).map((rule) => [rule, rules[rule]] as const);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** Parses a rule's count; null if it is invalid. Empty means 0. */
export function readCount(typed: string): number | null {
  const text = typed.trim();
  if (text === "") return 0;
  return /^\d{1,6}$/.test(text) && Number(text) <= MAX ? Number(text) : null;
}

/** `the newest 7 backups`, `one a day for 14 days`, … */
export function ruleWords(retention: Retention | null): string[] {
  return RULES.flatMap((rule) => {
    const count = retention?.[rule] ?? 0;
    return count > 0 ? [sourceSettingsText.retention.words[rule](count)] : [];
  });
}
