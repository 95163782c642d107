import { type MongoClient, MongoServerError } from "mongodb";
import { HIDDEN_DATABASES, hiddenText, mayHideDatabases } from "./hidden-databases.ts";

/** What no dump has of a server, or what nobody saw there: for `left_out` of the metadata. */

const SHARDING = "undumped_sharding";
const USERS = "undumped_user";

const TEXTS: Readonly<Record<string, string>> = {
  [SHARDING]: "shard keys and zones (no dump has them)",
  [USERS]: "users and roles of the database (only a dump of the whole server has them)",
};

/** Unauthorized. */
const FORBIDDEN = 13;

/** What is said of such a kind; null for any other. */
export function leftOutText(kind: string): string | null {
  return TEXTS[kind] ?? hiddenText(kind);
}

export async function leftOutKinds(
  client: MongoClient,
  { version, database }: { readonly version: string; readonly database: string | null },
): Promise<string[]> {
  const hello = await client.db("admin").command({ hello: 1 });
  const sharding = hello["msg"] === "isdbgrid" ? [SHARDING] : [];
  if (database === null)
    return [...sharding, ...((await mayHideDatabases(client, version)) ? [HIDDEN_DATABASES] : [])];
  return [...sharding, ...((await hasUsers(client, database)) ? [USERS] : [])];
}

/**
 * A server keeps the users and roles of all databases in its own. If nobody may see them, there may
 * be some.
 */
async function hasUsers(client: MongoClient, database: string): Promise<boolean> {
  const db = client.db(database);
  try {
    const { users } = await db.command({ usersInfo: 1 });
    if (isSome(users)) return true;
    const { roles } = await db.command({ rolesInfo: 1 });
    return isSome(roles);
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    // FerretDB has no roles.
    return error.code === FORBIDDEN && (await isInAdmin(client, database));
  }
}

/** The role `backup` may read them there. */
async function isInAdmin(client: MongoClient, database: string): Promise<boolean> {
  const admin = client.db("admin");
  try {
    const found = await Promise.all(
      ["system.users", "system.roles"].map((collection) =>
        admin.collection(collection).findOne({ db: database }, { projection: { _id: 1 } }),
      ),
    );
    return found.some((each) => each !== null);
  } catch (error) {
    if (error instanceof MongoServerError) return true;
    throw error;
  }
}

function isSome(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}
