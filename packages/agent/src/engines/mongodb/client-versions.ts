import type { MongodbSettings } from "../../config/engines/mongodb.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import type { ClientVersions, SourceOf } from "../engine.ts";
import { withClient } from "./client.ts";
import { resolveConnection } from "./connection.ts";
import { databasesOf } from "./describe.ts";
import { HIDDEN_DATABASES, hiddenText, mayHideDatabases } from "./hidden-databases.ts";
import { productOf } from "./product.ts";
import { findTool, versionOfTool } from "./programs.ts";

/**
 * Returns the versions of the server and of mongodump, and warns if the backup may lack databases.
 * @throws RunError
 */
export async function mongodbVersions(
  source: SourceOf<MongodbSettings>,
  { signal }: Pick<RunContext, "signal">,
): Promise<ClientVersions> {
  const tool = await findTool("mongodump");
  const { uri, database } = await resolveConnection(source.connection);
  return withClient(
    uri,
    { what: `the source ${source.slug} cannot be reached`, signal },
    async ({ client, version }) => {
      const versions = {
        server: `${productOf(version)} ${version.replace(/-FerretDB$/, "")}`,
        client: `mongodump ${await versionOfTool(tool)}`,
      };
      if (database !== null || !(await mayHideDatabases(client, version))) return versions;
      const seen = (await databasesOf(client)).length;
      return {
        ...versions,
        warning: {
          text: `${hiddenText(HIDDEN_DATABASES)}: it sees ${seen}, and there may be more`,
          next: "grant it the role backup on the database admin, or name the database in the connection's URI",
        },
      };
    },
  );
}
