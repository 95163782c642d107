import type { SignupMode } from "../signup/mode.ts";

/** The limits of an organisation for which no operator set others; null for none. */
export interface QuotaDefaults {
  bytes: number | null;
  objects: number | null;
  agents: number | null;
  /** In each window. */
  requests: number;
  window_s: number;
}

/**
 * Defaults if strangers may sign up and the operator set nothing. A service for one team needs none
 * of them.
 */
const OF_STRANGERS = { bytes: 50 * 1024 ** 3, objects: 10_000, agents: 50 };
const NONE = { bytes: null, objects: null, agents: null };

/** From the settings: undefined if one is not set, null if it is `none`. */
export function quotaDefaults(set: {
  signup: SignupMode;
  quotaBytes: number | null | undefined;
  quotaObjects: number | null | undefined;
  quotaAgents: number | null | undefined;
  quotaRequests: { limit: number; window_s: number };
}): QuotaDefaults {
  const unset = set.signup === "open" ? OF_STRANGERS : NONE;
  const of = (value: number | null | undefined, otherwise: number | null): number | null =>
    value === undefined ? otherwise : value;
  return {
    bytes: of(set.quotaBytes, unset.bytes),
    objects: of(set.quotaObjects, unset.objects),
    agents: of(set.quotaAgents, unset.agents),
    requests: set.quotaRequests.limit,
    window_s: set.quotaRequests.window_s,
  };
}
