import { expect, test } from "vitest";
import { recoveryTime } from "./recovery-time.ts";

const phases = { download_ms: 400, decrypt_ms: 100, restore_ms: 500, checks_ms: 9_000 };

test.each([
  [1, true],
  [0.999, false],
  [3600, true],
])("against an RTO of %d s", (rto_s, isMet) => {
  expect(recoveryTime(phases, rto_s)).toEqual({ took_ms: 1_000, rto_s, isMet });
});

test("without a target, the recovery time is only measured", () => {
  expect(recoveryTime(phases, undefined)).toEqual({ took_ms: 1_000, rto_s: null, isMet: null });
});
