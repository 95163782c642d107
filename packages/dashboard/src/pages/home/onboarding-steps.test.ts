import type { Schemas } from "@attestore/contract/client";
import { expect, test } from "vitest";
import { currentStep, stepsDone } from "./onboarding-steps.ts";

type Overview = Schemas["Overview"];
const AT = "2026-11-21T08:00:00.000Z";

function overview(more: {
  agents?: Partial<Overview["agents"][number]>[];
  sources?: Partial<Overview["sources"][number]>[];
}): Overview {
  return { agents: [], sources: [], ...more } as unknown as Overview;
}

const agent = { is_running: true, has_recovery_kit: false };
const source = {
  last_backup_at: null as string | null,
  last_proven_at: null as string | null,
  next_backup_at: null as string | null,
  next_restore_test_at: null as string | null,
};

test("each of the seven steps follows from the service's records", () => {
  const scheduled = { next_backup_at: AT, next_restore_test_at: AT };
  const at = (more: Parameters<typeof overview>[0]) => currentStep(stepsDone(overview(more)));
  expect(at({})).toBe("attach");
  expect(at({ agents: [agent] })).toBe("declare");
  expect(at({ agents: [{ ...agent, is_running: false }], sources: [source] })).toBe("run");
  expect(at({ agents: [agent], sources: [source] })).toBe("back_up");
  const backedUp = { ...source, last_backup_at: AT };
  expect(at({ agents: [agent], sources: [backedUp] })).toBe("prove");
  const proven = { ...backedUp, last_proven_at: AT };
  expect(at({ agents: [agent], sources: [proven] })).toBe("schedule");
  expect(at({ agents: [agent], sources: [{ ...proven, ...scheduled }] })).toBe("kit");
  const kitted = { ...agent, has_recovery_kit: true };
  expect(at({ agents: [kitted], sources: [{ ...proven, ...scheduled }] })).toBe(null);
  expect(at({ agents: [kitted, agent], sources: [{ ...proven, ...scheduled }] })).toBe("kit");
});

test("an agent that has not said whether it has a recovery kit is not counted as having one", () => {
  const done = stepsDone(overview({ agents: [{ has_recovery_kit: null, is_running: false }] }));
  expect([...done]).toEqual(["attach"]);
});
