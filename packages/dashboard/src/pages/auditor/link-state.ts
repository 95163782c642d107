import type { Schemas } from "@attestore/contract/client";

export type LinkState = "live" | "revoked" | "over";

export function linkState(link: Schemas["AuditorLinkRecord"], now: Date): LinkState {
  if (link.revoked_at !== null) return "revoked";
  return Date.parse(link.expires_at) <= now.getTime() ? "over" : "live";
}
