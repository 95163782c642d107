import { expect, test } from "vitest";
import { ClockOff } from "../../log/clock-off.ts";
import { HeadNotRecorded } from "../../log/checkpoints/head-not-recorded.ts";
import { LogCorruption } from "../../log/log-corruption.ts";
import { SubmissionRefused, type SubmissionRefusal } from "../../log/sequencer/submission-refused.ts";
import { logErrorAnswer } from "./log-error-answer.ts";

const refusals: [SubmissionRefusal, { code: string; status: number; retryAfter: string | undefined }][] = [
  ["agent_not_active", { code: "agent_revoked", status: 401, retryAfter: undefined }],
  ["key_replaced", { code: "unavailable", status: 503, retryAfter: undefined }],
  ["in_progress", { code: "idempotency_in_progress", status: 409, retryAfter: "1" }],
  ["full", { code: "unavailable", status: 503, retryAfter: "2" }],
  ["closed", { code: "unavailable", status: 503, retryAfter: "2" }],
  ["database_away", { code: "unavailable", status: 503, retryAfter: "2" }],
  ["clock_off", { code: "unavailable", status: 503, retryAfter: "30" }],
];

test.each(refusals)("a submission that the log refuses as %s", (reason, { code, status, retryAfter }) => {
  const answer = logErrorAnswer(new SubmissionRefused(reason));
  expect(answer).toMatchObject({ code, status });
  expect(answer?.headers["retry-after"]).toBe(retryAfter);
});

test("a clock that is wrong: 503 with its reason, also where the service itself appends", () => {
  for (const error of [new SubmissionRefused("clock_off"), new ClockOff(31_000)])
    expect(logErrorAnswer(error)).toMatchObject({ status: 503, details: { reason: "clock_off" } });
});

test.each(["head_regressed", "head_forked"] as const)(
  "a log that was set back (%s): 503, and no hurry",
  (code) => {
    expect(logErrorAnswer(new LogCorruption(code, "set back"))).toMatchObject({
      code: "unavailable",
      details: { reason: "log_set_back" },
      headers: { "retry-after": "300" },
    });
  },
);

test("a head that cannot be written down: 503", () => {
  expect(logErrorAnswer(new HeadNotRecorded("ENOSPC"))).toMatchObject({ code: "unavailable", status: 503 });
});

test("damage and all other errors are reported as our defects", () => {
  expect(logErrorAnswer(new LogCorruption("log_row_damaged", "damaged"))).toBeNull();
  expect(logErrorAnswer(new Error("other"))).toBeNull();
});
