import type { Schemas } from "@attestore/contract/client";

export type QuotaName = "bytes" | "objects" | "agents" | "requests";
export const QUOTA_NAMES: readonly QuotaName[] = ["bytes", "objects", "agents", "requests"];
type Change = Schemas["ChangeQuotasRequest"];

/** A typed limit as the call takes it; undefined where it is none. */
export function readLimit(typed: string): number | null | "default" | undefined {
  const text = typed.trim().toLowerCase();
  if (text === "") return "default";
  if (text === "none") return null;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** A limit as it is typed: empty where it is the service's own. */
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

/** The fields that were typed otherwise than before; null where one of them is no limit. */
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
