import { type Document, type MongoClient, MongoServerError } from "mongodb";
import { productOf } from "./product.ts";

/** For `left_out` of the metadata. */
export const HIDDEN_DATABASES = "unseen_database";

/** What a test, a backup and `doctor` say of it. */
const HIDDEN_TEXT = "databases hidden from the backup's user (grant the role backup)";

/** What is said of such a kind; null for any other. */
export function hiddenText(kind: string): string | null {
  return kind === HIDDEN_DATABASES ? HIDDEN_TEXT : null;
}

/**
 * Whether the server may hide databases from the session's user. To a user without the right to
 * list them all, it lists those that the user may read, without an error, and mongodump dumps only
 * these. FerretDB shows all of them to everybody. A server that does not tell what the user may do
 * may hide some.
 */
export async function mayHideDatabases(client: MongoClient, version: string): Promise<boolean> {
  if (productOf(version) === "FerretDB") return false;
  try {
    const status = await client.db("admin").command({ connectionStatus: 1, showPrivileges: true });
    return !listsAllDatabases(status);
  } catch (error) {
    if (error instanceof MongoServerError) return true;
    throw error;
  }
}

/** The answer to `connectionStatus` with `showPrivileges`. */
export function listsAllDatabases({ authInfo }: Document): boolean {
  const { authenticatedUsers: users, authenticatedUserPrivileges: privileges } = recordOf(authInfo);
  // Nobody is authenticated, and yet may list databases: the server has no access control.
  if (Array.isArray(users) && users.length === 0) return true;
  return listOf(privileges).some((privilege) => {
    const { resource, actions } = recordOf(privilege);
    const { cluster, anyResource } = recordOf(resource);
    return (cluster === true || anyResource === true) && listOf(actions).includes("listDatabases");
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
