export { Canary, CanaryError, evaluateCanary, readCanary, withoutCanaries } from "./evaluation/canary.ts";
export {
  type CanaryCheckConfig,
  type CheckConfig,
  type CommandCheckConfig,
  type QueryCheckConfig,
} from "./evaluation/check-config.ts";
export {
  type CheckDefinition,
  definitionSha256,
  evaluateCheck,
  evaluateCommand,
  type Printed,
} from "./evaluation/evaluate-check.ts";
export {
  type BrokenConstraint,
  type CheckedConstraints,
  constraintsCheck,
} from "./built-in/constraints-check.ts";
export { type CheckedIndexes, indexesCheck } from "./built-in/indexes-check.ts";
export { attributesCheck, type ComparedAttributes } from "./built-in/attributes-check.ts";
export { contentCheck } from "./built-in/content-check.ts";
export { objectsCheck, type ObjectsGroup, type ObjectsWords } from "./built-in/objects-check.ts";
export { notInTime } from "./evaluation/not-in-time.ts";
export { columnsOf } from "./expectation/columns-of.ts";
export { parseExpectation } from "./expectation/parse.ts";
export { ExpectationError, type ExpectationErrorCode } from "./expectation/expectation-error.ts";
export { type DriverValue, formatRow } from "./values/format-row.ts";
export { type QueryOutcome } from "./evaluation/query-outcome.ts";
export { digestCheck } from "./built-in/digest-check.ts";
export { foreignKeysCheck } from "./built-in/foreign-keys-check.ts";
export { inferredId, rowCheckId } from "./inferred-id.ts";
export { sqliteIntegrityCheck } from "./built-in/integrity-check.ts";
export { readTwiceCheck } from "./built-in/read-twice-check.ts";
export { restCheck } from "./built-in/rest-check.ts";
export { rolesPresentCheck } from "./built-in/roles-check.ts";
export { rowCountCheck, rowFloorCheck } from "./built-in/rows-check.ts";
export { tablesPresentCheck } from "./built-in/tables-check.ts";
export { negativeControl, negativeControlLines, type Tried } from "./negative-control.ts";
export { checkId } from "./proposed/check-id.ts";
export { type NotProposed, type Proposals, type ProposedCheck } from "./proposed/candidate.ts";
export {
  FURTHEST_ZONE_H,
  MAX_TIME_COLUMNS,
  OBSERVED_DAYS,
  type TimeColumn,
  ZONES_S,
} from "./proposed/freshness.ts";
export { proposeFromSource } from "./proposed/propose.ts";
export { MAX_REFERENCES, type Reference } from "./proposed/row-ratio.ts";
export {
  columnProfile,
  ColumnProfiler,
  type Measured,
  measureBytes,
  measureText,
  MIN_ROWS,
  NEWER,
} from "./profile/column-profiler.ts";
export { DifferentTexts } from "./profile/different-texts.ts";
export { FilesProfiler } from "./profile/files-profiler.ts";
export { notesIn } from "./profile/find-file-suspicions.ts";
export { type LookedAt, lookAtFile } from "./profile/look-at-file.ts";
export { measureValue } from "./profile/measure-value.ts";
export { GRANT_KIND, kindsCheck } from "./built-in/kinds-check.ts";
export { keptCheck, missedTables } from "./built-in/kept-check.ts";
export { lossText, nextStep } from "./earlier-tests/loss-texts.ts";
export { EarlierTests } from "./earlier-tests/earlier-tests.ts";
export { FLOOR_DAYS, STEADY_DAYS } from "./earlier-tests/row-floors.ts";
export type { AcceptedLoss, PassedTest, UnnamedTable } from "./passed-tests.ts";
export { suspicionCheck } from "./built-in/suspicion-check.ts";
export { meansTable } from "./earlier-tests/table-pattern.ts";
export {
  CHECK_TEMPLATES,
  type CheckTemplate,
  prefixAmong,
  TABLE_PREFIX,
  templateChecks,
} from "./templates/templates.ts";
export { parseTimestamp } from "./values/timestamp.ts";
export { clip } from "./clip.ts";
export { totalRowsCheck } from "./built-in/total-check.ts";
export { type Verdict, verdict } from "./verdict.ts";
