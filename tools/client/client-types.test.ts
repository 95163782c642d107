import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documentOf } from "../../packages/orchestrator/src/features/api-docs/routes.ts";
import { apiRoutes } from "../../packages/orchestrator/src/features/api-routes.ts";
import { clientTypes } from "./client-types.ts";

test("the typed client matches the service's routes (npm run client writes it)", () => {
  const written = readFileSync(
    join(import.meta.dirname, "../../packages/contract/src/client/paths.ts"),
    "utf8",
  );
  expect(clientTypes(documentOf(apiRoutes(), "https://localhost:8443")) === written).toBe(true);
});
