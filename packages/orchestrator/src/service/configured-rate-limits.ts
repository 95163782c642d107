import type { Config } from "../platform/config/read-config.ts";
import { RATE_LIMITS, type RateLimitTable } from "../platform/http/route/rate-limits.ts";

/** The built-in rate limits, with those of the settings in their places. */
export function rateLimitsOf(config: Config): RateLimitTable {
  return {
    ...RATE_LIMITS,
    default: { ...RATE_LIMITS.default, ...config.rateDefault },
    attach_failures: { ...RATE_LIMITS.attach_failures, ...config.rateAttachFailures },
    bootstrap_start: { ...RATE_LIMITS.bootstrap_start, ...config.rateBootstrapStart },
    signup_address: { ...RATE_LIMITS.signup_address, ...config.rateSignupAddress },
    signup_email: { ...RATE_LIMITS.signup_email, ...config.rateSignupEmail },
    login_address: { ...RATE_LIMITS.login_address, ...config.rateLoginAddress },
    login_email: { ...RATE_LIMITS.login_email, ...config.rateLoginEmail },
    verify_email: { ...RATE_LIMITS.verify_email, ...config.rateVerifyEmail },
    org_requests: { ...RATE_LIMITS.org_requests, ...config.quotaRequests },
  };
}
