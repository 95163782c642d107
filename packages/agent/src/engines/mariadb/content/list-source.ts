import { preparedKinds } from "../../content/prepared-transactions.ts";
import { type MariadbSession, SessionEnded } from "../connection/session.ts";
import { kindsBeside } from "./beside-databases.ts";
import { hiddenKinds } from "./hidden-kinds.ts";
import { type ListedObjects, listPartly } from "./list-objects.ts";

const SOURCE_MS = 60_000;
/** Very many tables must not take the time of the few triggers. */
const LEAST_MS = 5_000;

/**
 * Lists the objects of a source, as far as it comes, and the kinds of the rest, with those that the
 * server may hide. A session that breaks must not end the backup. Null if nothing was listed.
 */
export async function listSource(
  open: () => Promise<MariadbSession>,
  databases: readonly string[],
  { budget_ms = SOURCE_MS, least_ms = LEAST_MS, isWholeServer = false } = {},
): Promise<ListedObjects | null> {
  const session = await open();
  try {
    const { objects, unlisted } = await listPartly(session, databases, { budget_ms, least_ms });
    if (objects.length === 0) return null;
    // Of the whole server. MySQL refuses it to a user without a right of its own.
    const asked = await session.run("xa recover");
    const prepared = !asked.ok ? "unseen" : asked.rows.length > 0 ? "some" : "none";
    const hidden = await hiddenKinds(session, databases, isWholeServer);
    const beside = await kindsBeside(session, databases, isWholeServer);
    return { objects, unlisted: [...unlisted, ...hidden, ...preparedKinds(prepared), ...beside] };
  } catch (error) {
    if (error instanceof SessionEnded) return null;
    throw error;
  } finally {
    await session.close();
  }
}
