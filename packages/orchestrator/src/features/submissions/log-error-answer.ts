import { ClockOff } from "../../log/clock-off.ts";
import { HeadNotRecorded } from "../../log/checkpoints/head-not-recorded.ts";
import { LogCorruption } from "../../log/log-corruption.ts";
import { type SubmissionRefusal, SubmissionRefused } from "../../log/sequencer/submission-refused.ts";
import { ApiError, unavailable } from "../../platform/errors/api-error.ts";
import { agentRevoked } from "../../platform/http/credentials/lock-active-agent.ts";
import { keyInProgress } from "../../platform/http/idempotency.ts";

/** Only people can repair a database that was set back: agents need not ask every few seconds. */
const RETRY_AFTER_S = "300";
/** It ends by itself, or when somebody sets a clock. */
const SOON_RETRY_AFTER_S = "30";

/**
 * The contract's answer to an error of the log; null for damage, which we must repair, and for any
 * other error.
 */
export function logErrorAnswer(error: unknown): ApiError | null {
  if (error instanceof SubmissionRefused) return refusal(error.reason);
  if (error instanceof ClockOff) return clockOff();
  if (error instanceof HeadNotRecorded)
    return unavailable("The service cannot record its signatures right now.");
  if (error instanceof LogCorruption && ["head_regressed", "head_forked"].includes(error.code))
    return setBack();
  if (error instanceof LogCorruption && error.code === "log_held") return held();
  return null;
}

function refusal(reason: SubmissionRefusal): ApiError {
  switch (reason) {
    case "agent_not_active":
      return agentRevoked();
    case "key_replaced":
      return new ApiError("unavailable", "The agent's key was just replaced: submit again.");
    case "in_progress":
      return keyInProgress();
    case "full":
      return unavailable("The service has more submissions than it can record right now. Try again.");
    case "closed":
      return unavailable("The service is shutting down.");
    case "database_away":
      return unavailable("The service cannot reach its database right now.");
    case "clock_off":
      return clockOff();
  }
}

function clockOff(): ApiError {
  return new ApiError(
    "unavailable",
    "The service's clock and its database's contradict each other, so nothing is recorded. The operator of the service must set them.",
    { reason: "clock_off" },
    { "retry-after": SOON_RETRY_AFTER_S },
  );
}

function setBack(): ApiError {
  return new ApiError(
    "unavailable",
    "This organisation's log is read-only: the service's database was set back to before a signed head of the log. Existing records can be read. The operator of the service must restore the newest database.",
    { reason: "log_set_back" },
    { "retry-after": RETRY_AFTER_S },
  );
}

function held(): ApiError {
  return new ApiError(
    "unavailable",
    "The service was just restored from a backup, and waits to learn which heads of this log the agents know. Try again in some minutes.",
    { reason: "log_held" },
    { "retry-after": SOON_RETRY_AFTER_S },
  );
}
