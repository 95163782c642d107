export { Canary, CanaryError, evaluateCanary, readCanary, withoutCanaries } from "./canary.ts";
export {
  type CanaryCheckConfig,
  type CheckConfig,
  type CommandCheckConfig,
  type QueryCheckConfig,
} from "./check-config.ts";
export {
  type CheckDefinition,
  definitionSha256,
  evaluateCheck,
  evaluateCommand,
  type Printed,
} from "./evaluate-check.ts";
export { type BrokenConstraint, type CheckedConstraints, constraintsCheck } from "./constraints-check.ts";
export { type CheckedIndexes, indexesCheck } from "./indexes-check.ts";
export { attributesCheck, type ComparedAttributes } from "./attributes-check.ts";
export { contentCheck } from "./content-check.ts";
export { objectsCheck, type ObjectsGroup, type ObjectsWords } from "./objects-check.ts";
export { notInTime } from "./not-in-time.ts";
export { columnsOf } from "./expectation/columns-of.ts";
export { parseExpectation } from "./expectation/parse.ts";
export { ExpectationError, type ExpectationErrorCode } from "./expectation/expectation-error.ts";
export { type DriverValue, formatRow } from "./format-row.ts";
export { type QueryOutcome } from "./query-outcome.ts";
export { digestCheck } from "./digest-check.ts";
export { foreignKeysCheck } from "./foreign-keys-check.ts";
export { inferredId, rowCheckId } from "./inferred-id.ts";
export { sqliteIntegrityCheck } from "./integrity-check.ts";
export { readTwiceCheck } from "./read-twice-check.ts";
export { restCheck } from "./rest-check.ts";
export { rolesPresentCheck } from "./roles-check.ts";
export { rowCountCheck, rowFloorCheck } from "./rows-check.ts";
export { tablesPresentCheck } from "./tables-check.ts";
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
export { kindsCheck } from "./kinds-check.ts";
export { keptCheck, missedTables } from "./kept-check.ts";
export { lossText, nextStep } from "./loss-texts.ts";
export { EarlierTests } from "./earlier-tests.ts";
export { FLOOR_DAYS, STEADY_DAYS } from "./row-floors.ts";
export type { AcceptedLoss, PassedTest, UnnamedTable } from "./passed-tests.ts";
export { suspicionCheck } from "./suspicion-check.ts";
export { meansTable } from "./table-pattern.ts";
export {
  CHECK_TEMPLATES,
  type CheckTemplate,
  prefixAmong,
  TABLE_PREFIX,
  templateChecks,
} from "./templates/templates.ts";
export { parseTimestamp } from "./timestamp.ts";
export { clip } from "./clip.ts";
export { totalRowsCheck } from "./total-check.ts";
export { type Verdict, verdict } from "./verdict.ts";
