/** One limit: `limit` hits in a fixed window of `window_s` seconds. */
export interface RateLimit {
  limit: number;
  window_s: number;
  /**
   * Whose calls are counted together; `prepare` tells an e-mail address and the organisation.
   * `email_at_address`: calls about an e-mail address from one network, so a stranger's calls don't
   * count against the person who owns the address.
   */
  per: "address" | "credential" | "email" | "email_at_address" | "org";
  /** Every call, or only those that end in 401 or 403. */
  counts: "calls" | "failures";
  /**
   * The first two hold across replicas and restarts. `counted`: each hit is recorded. `reserved`: a
   * replica takes several hits at a time, which costs the database little; never more than the
   * limit get through, and a few less if calls move between replicas. `process`: each replica
   * counts for itself, for calls that each agent makes a few times a minute and that would all be
   * reservations.
   */
  kept: "counted" | "reserved" | "process";
}

export type RateLimitName =
  | "signup_address"
  | "signup_email"
  | "signup_state"
  | "login_address"
  | "login_email"
  | "login_mailbox"
  | "verify_email"
  | "verify_address"
  | "passkey_address"
  | "passkey_change"
  | "invite_org"
  | "invite_user"
  | "invite_email"
  | "attach_failures"
  | "bootstrap_start"
  | "auditor_link_address"
  | "notification_test"
  | "evidence"
  | "command_wait"
  | "command_progress"
  | "org_requests"
  | "default";
export type RateLimitTable = Readonly<Record<RateLimitName, RateLimit>>;

/** The limits of the service (contract, sections 5 and 6). A heartbeat names none. */
export const RATE_LIMITS: RateLimitTable = {
  signup_address: { limit: 10, window_s: 3600, per: "address", counts: "calls", kept: "counted" },
  signup_email: { limit: 3, window_s: 3600, per: "email", counts: "calls", kept: "counted" },
  signup_state: { limit: 120, window_s: 60, per: "address", counts: "calls", kept: "reserved" },
  login_address: { limit: 30, window_s: 3600, per: "address", counts: "calls", kept: "counted" },
  login_email: { limit: 10, window_s: 3600, per: "email_at_address", counts: "calls", kept: "counted" },
  // This many mails an hour are a nuisance, but no reason to let strangers lock somebody out: using
  // them up takes ten networks.
  login_mailbox: { limit: 100, window_s: 3600, per: "email", counts: "calls", kept: "counted" },
  verify_email: { limit: 10, window_s: 900, per: "email_at_address", counts: "calls", kept: "counted" },
  verify_address: { limit: 60, window_s: 900, per: "address", counts: "calls", kept: "counted" },
  passkey_address: { limit: 120, window_s: 900, per: "address", counts: "calls", kept: "counted" },
  passkey_change: { limit: 60, window_s: 900, per: "credential", counts: "calls", kept: "counted" },
  invite_org: { limit: 100, window_s: 86_400, per: "org", counts: "calls", kept: "counted" },
  invite_user: { limit: 30, window_s: 3600, per: "credential", counts: "calls", kept: "counted" },
  invite_email: { limit: 3, window_s: 86_400, per: "email", counts: "calls", kept: "counted" },
  attach_failures: { limit: 30, window_s: 3600, per: "address", counts: "failures", kept: "counted" },
  bootstrap_start: { limit: 30, window_s: 3600, per: "address", counts: "calls", kept: "counted" },
  auditor_link_address: { limit: 30, window_s: 3600, per: "address", counts: "calls", kept: "counted" },
  notification_test: { limit: 60, window_s: 3600, per: "credential", counts: "calls", kept: "counted" },
  evidence: { limit: 20, window_s: 3600, per: "credential", counts: "calls", kept: "counted" },
  command_wait: { limit: 120, window_s: 60, per: "credential", counts: "calls", kept: "process" },
  command_progress: { limit: 60, window_s: 60, per: "credential", counts: "calls", kept: "process" },
  // Ten credentials at their own limit. It is counted although no route names it, see
  // rate-limit.ts.
  org_requests: { limit: 6000, window_s: 60, per: "org", counts: "calls", kept: "reserved" },
  default: { limit: 600, window_s: 60, per: "credential", counts: "calls", kept: "reserved" },
};
