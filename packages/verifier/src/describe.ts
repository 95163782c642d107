import {
  comparedContentText,
  fewerObjects,
  type NegativeControl,
  plainExcerpt,
  plainLine,
  type RestoreTestStatement,
  type Statement,
  suspicionText,
} from "@attestore/proof";

/** Foreign text in one line of a report. */
const brief = (text: string, limit = 200): string => plainExcerpt(text, limit);

/** Describes a statement for people: one line, then one line for each check. */
export function describe(statement: Statement): string[] {
  const { source_id, agent_id, backup_id, finished_at } = statement.predicate;
  const where = `backup ${backup_id} of ${source_id}, by ${agent_id}, finished ${finished_at}`;
  if (!isRestoreTest(statement))
    return [`${where}: backed up, ${statement.predicate.size_bytes} bytes of ciphertext`];
  const { result, reason, checks, runtime, profile } = statement.predicate;
  const engine = `${plainLine(runtime.engine)} ${plainLine(runtime.engine_version)} (${runtime.kind})`;
  const why = reason === undefined ? "" : `: ${brief(reason)}`;
  const suspicious = profile?.suspicious ?? [];
  const fewer = fewerObjects(checks);
  const content = brief(comparedContentText(checks), 600);
  return [
    `${where}: restored into ${engine}, the restore test ${result.toUpperCase()}${suspicious.length === 0 ? "" : ", SUSPICIOUS"}${why}`,
    ...suspicious.map((each) => `suspicious: ${brief(suspicionText(each))}`),
    ...(fewer === null ? [] : [`fewer objects than in the backup before: ${brief(fewer, 600)}`]),
    content,
    ...checks.flatMap(({ id, result: outcome, expectation, observed, negative_control }) => [
      `check ${brief(id, 60)} ${outcome}: expected ${brief(expectation)}, observed ${brief(JSON.stringify(observed))}`,
      ...blindness(negative_control),
    ]),
  ];
}

/** What the check held for although the agent had ruined it. */
function blindness(control: NegativeControl | undefined): string[] {
  return control === undefined || control.not_noticed.length === 0
    ? []
    : [`  would not notice ${brief(control.not_noticed.join("; "), 600)}`];
}

/** Whether this is a restore test that failed: its receipt is true all the same. */
export function hasFailed(statement: Statement): boolean {
  return isRestoreTest(statement) && statement.predicate.result === "failed";
}

function isRestoreTest(statement: Statement): statement is RestoreTestStatement {
  return "result" in statement.predicate;
}
