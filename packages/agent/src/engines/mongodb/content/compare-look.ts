import type { CheckOutcome } from "@attestore/proof";
import type { ObjectsWords } from "../../../checks/index.ts";
import { compareObjects, type ExpectedObjects } from "../../content/compare-objects.ts";
import type { Look } from "../describe.ts";
import { hasExpression } from "../exact-objects.ts";
import { leftOutText } from "../left-out.ts";
import { APART } from "./content-apart.ts";
import { objectsOf } from "./sign-documents.ts";

/**
 * Compares the collections, views and indexes of a copy with those that the backup names, in
 * any of `OBJECTS_VERSIONS`.
 */
export function compareLook(
  copy: Look,
  expected: ExpectedObjects,
  { key, ...context }: { readonly key: Buffer; readonly duration_ms: number; readonly words: ObjectsWords },
): CheckOutcome {
  const { lines, exact } = copy.earlier;
  const [restored, notLookedAt] =
    expected.version === 1
      ? [objectsOf(lines), notInEarlier(copy)]
      : expected.version === 2
        ? [objectsOf(exact), notInEarlier(copy)]
        : [copy.objects, []];
  return compareObjects(restored, { ...expected, leftOut: [] }, key, {
    ...context,
    of: null,
    // Only what the source may have besides is left out.
    notLookedAt: [
      ...expected.leftOut.map(([kind]) => leftOutText(kind) ?? `all of the kind ${kind}`),
      ...notLookedAt,
    ],
  });
}

/** What an earlier agent did not list, as far as the copy has it. */
function notInEarlier({ objects, namespaces }: Look): string[] {
  return [
    ...(objects.some(hasExpression) ? ["types and options in validators, pipelines and filters"] : []),
    ...(namespaces.some(({ capped }) => capped !== undefined) ? [APART.capped_order] : []),
  ];
}
