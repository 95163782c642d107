import type { Schemas } from "@attestore/contract/client";

export type QuotaName = "bytes" | "objects" | "agents" | "requests";
export const QUOTA_NAMES: readonly QuotaName[] = ["bytes", "objects", "agents", "requests"];
type Change = Schemas["ChangeQuotasRequest"];

/** Parses a typed limit for the call; undefined if it is invalid. */
export function readLimit(typed: string): number | null | "default" | undefined {
  const text = typed.trim().toLowerCase();
  if (text === "") return "default";
  if (text === "none") return null;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Formats a limit for its field: empty for the service's default. */
export function typedLimit({
  limit,
  default: own,
}: {
  limit: number | null;
  default: number | null;
}): string {
  if (limit === own) return "";
  return limit === null ? "none" : String(limit);
}

/** The fields that were changed; null if one of them is invalid. */
export function changeOf(before: Record<QuotaName, string>, typed: Record<QuotaName, string>): Change | null {
  const change: Change = {};
  for (const name of QUOTA_NAMES) {
    if (typed[name].trim() === before[name]) continue;
    const limit = readLimit(typed[name]);
    if (limit === undefined) return null;
    change[name] = limit;
  }
  return change;
}
