import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../test/service.ts";

const ROOT = new URL("../../../../", import.meta.url);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

interface Row {
  call: string;
  test: string;
}

function documented(): Row[] {
  const page = readFileSync(new URL("docs/api.md", ROOT), "utf8");
  return [...page.matchAll(/^\| ([A-Z]+) \| `([^`]+)` \|.*\| \[[^\]]+\]\(\.\.\/([^)]+)\) \|$/gm)].map(
    ([, method, path, file]) => ({ call: `${method} ${path}`, test: file ?? "" }),
  );
}

test("docs/api.md lists every call of the service, and no other", async () => {
  const { json } = await service.call({ method: "GET", path: "/api/openapi.json" });
  const calls = Object.entries(json["paths"] as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ["get", "post", "patch", "delete"].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(calls.length).toBeGreaterThan(40);
  expect(
    documented()
      .map(({ call }) => call)
      .toSorted(),
  ).toEqual(calls.toSorted());
});

test.each(documented())("$call: its test is there, and makes such a call", ({ call, test: file }) => {
  const source = readFileSync(new URL(file, ROOT), "utf8");
  const last = call
    .split("/")
    .filter((segment) => segment !== "" && !segment.startsWith("{") && !segment.includes(" "))
    .at(-1);
  expect(source).toContain(last ?? "");
});
