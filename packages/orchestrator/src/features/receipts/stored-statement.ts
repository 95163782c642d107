import type { RestoreTestPredicate, Statement } from "@attestore/proof";

/**
 * What the agent signed in an envelope that is stored. What was accepted was checked member by
 * member: it parses again, and is not checked again, so that a stricter check of a later version
 * keeps nobody from reading it.
 */
export function predicateIn(envelope: Buffer): Statement["predicate"] {
  const { payload } = JSON.parse(envelope.toString("utf8")) as { payload: string };
  const statement = JSON.parse(Buffer.from(payload, "base64").toString("utf8")) as Statement;
  return statement.predicate;
}

/** The same of a receipt of the kind `restore_test`. */
export function restoreTestIn(envelope: Buffer): RestoreTestPredicate {
  const predicate = predicateIn(envelope);
  if (!("result" in predicate)) throw new Error("a receipt of a restore test contains another statement");
  return predicate;
}
