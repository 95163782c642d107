/**
 * Writes the types of the API's client from the OpenAPI document that the service gives.
 *
 *   npm run client            # after a change of routes or schemas
 *   npm run client -- --check # exits with 1 if the file is not what would be written
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiRoutes } from "../../packages/orchestrator/src/features/api-routes.ts";
import { documentOf } from "../../packages/orchestrator/src/features/api-docs/routes.ts";
import { clientTypes } from "./client-types.ts";

const FILE = join(import.meta.dirname, "../../packages/contract/src/client/paths.ts");
const wanted = clientTypes(documentOf(apiRoutes(), "https://localhost:8443"));
if (process.argv.includes("--check")) {
  if (readFileSync(FILE, "utf8") === wanted) process.exit(0);
  process.stderr.write(
    "packages/contract/src/client/paths.ts does not match the routes: run npm run client\n",
  );
  process.exit(1);
}
writeFileSync(FILE, wanted);
