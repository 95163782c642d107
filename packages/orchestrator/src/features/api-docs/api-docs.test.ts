import { Validator } from "@seriousme/openapi-schema-validator";
import { Value } from "typebox/value";
import type { TSchema } from "typebox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../test/service.ts";
import { validatorCompiler } from "../../platform/http/body/compile-validator.ts";
import { exampleOf } from "../../platform/openapi/example.ts";
import { apiRoutes } from "../api-routes.ts";
import { documentOf } from "./routes.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe("the OpenAPI document", () => {
  test("is one of OpenAPI 3.1", async () => {
    const { status, json, headers } = await service.call({ method: "GET", path: "/api/openapi.json" });
    expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    const validator = new Validator();
    const { valid, errors } = await validator.validate(json);
    expect(errors ?? []).toEqual([]);
    expect([valid, validator.version]).toEqual([true, "3.1"]);
  });

  test("has every call of the service, with its errors", () => {
    const routes = apiRoutes();
    const document = documentOf(routes, "https://localhost");
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(operations).toHaveLength(routes.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
    for (const { operationId, responses } of operations)
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(["400", "500", "503"]));
  });

  test.each(
    apiRoutes().flatMap((route) => [
      ...Object.entries(route.answers).map(
        ([status, schema]) => [`${route.method} ${route.path} ${status}`, schema] as const,
      ),
      ...[
        ["body", route.body] as const,
        ["query", route.query] as const,
        ["path", route.params] as const,
      ].flatMap(([name, schema]) =>
        schema === undefined ? [] : [[`${route.method} ${route.path} ${name}`, schema] as const],
      ),
    ]),
  )("the example of %s is one", (_name, schema) => {
    if (typeof schema === "string") return;
    const example = exampleOf(schema);
    expect([...Value.Errors(schema as TSchema, example)]).toEqual([]);
  });
});

test("each example passes the schema that its call is checked with", () => {
  const compile = validatorCompiler();
  for (const { method, path: url, body, query, params } of apiRoutes())
    for (const schema of [body, query, params]) {
      if (schema === undefined) continue;
      const validate = compile({ schema, method, url });
      expect(validate(exampleOf(schema)), `${method} ${url}`).toBe(true);
    }
});

test("the page names every call, and loads nothing from elsewhere", async () => {
  const { status, headers, body } = await service.call({ method: "GET", path: "/api/docs" });
  expect(status).toBe(200);
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
  const html = body.toString();
  for (const { method, path } of apiRoutes())
    expect(html).toContain(`<h3><code>${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}</code></h3>`);
  expect(html).not.toMatch(/<script|(src|href)="(https?:)?\/\//);
  expect((await service.call({ method: "GET", path: "/api/docs.css" })).headers["content-type"]).toContain(
    "text/css",
  );
});
