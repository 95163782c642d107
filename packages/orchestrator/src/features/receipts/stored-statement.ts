import type { RestoreTestPredicate, Statement } from "@attestore/proof";

/**
 * The agent's statement from a stored envelope. It was checked member by member when it was
 * accepted, so it parses again. It is not checked again, so a stricter check in a later version
 * does not make it unreadable.
 */
export function predicateIn(envelope: Buffer): Statement["predicate"] {
  const { payload } = JSON.parse(envelope.toString("utf8")) as { payload: string };
  const statement = JSON.parse(Buffer.from(payload, "base64").toString("utf8")) as Statement;
  return statement.predicate;
}

/** The same for a receipt of the kind `restore_test`. */
export function restoreTestIn(envelope: Buffer): RestoreTestPredicate {
  const predicate = predicateIn(envelope);
  if (!("result" in predicate)) throw new Error("a receipt of a restore test contains another statement");
  return predicate;
}
