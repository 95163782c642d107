import { comparedContent } from "@attestore/proof";
import { expect } from "vitest";
import type { SourceConfig } from "../../../src/config/source-config.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import type { TestPlace } from "../scratch.ts";

/**
 * Backs the source up and tests that: every table's rows and every object must have been compared,
 * with none left out. Returns how many there are.
 */
export async function everythingCompared(
  place: TestPlace,
  source: SourceConfig,
): Promise<{ readonly tables: number; readonly objects: number }> {
  const tested = await testBackup(place, source, await backUp(place, source));
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  const compared = comparedContent(tested.checks);
  expect(compared).toMatchObject({ differing: 0, notCompared: 0, objects: { differing: 0 } });
  expect(compared?.objects).not.toHaveProperty("notCompared");
  expect(compared?.objects).not.toHaveProperty("notLookedAt");
  return { tables: compared?.tables ?? 0, objects: compared?.objects?.count ?? 0 };
}
